"""Ways to look at a table.

Read in this order: `scene` (what a viewer may see, as plain data), `terminal` (text for the person who plays),
`paint`, `faces` and `table` (pictures), `grid` (several tables in one), `window`, `replay_html` and the folder `page`
(the replay page). Imports `records` and what is below it.
"""
