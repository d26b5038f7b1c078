"""What a person types: ``ohhell play``, ``ohhell watch``, ``ohhell view``. `ohhell_env.__main__` lists all commands."""
