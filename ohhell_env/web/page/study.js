// The page of a participant: asks for consent once, then leads from table to table.
const byId = (id) => document.getElementById(id);
const address = `/api/study/${location.pathname.split("/").pop()}`;

async function ask(options) {
  const answer = await fetch(address, options);
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error);
  return data;
}

async function goOn() {
  byId("go").disabled = true;
  byId("error").textContent = "";
  try {
    const { next } = await ask({ method: "POST", headers: { "Content-Type": "application/json" }, body: '{"agree": true}' });
    if (next) location.href = next;
    else location.reload();
  } catch (error) {
    byId("error").textContent = error.message;
    byId("go").disabled = false;
  }
}

const study = await ask();
sessionStorage.setItem("ohhell-study", location.pathname);
byId("title").textContent = document.title = study.title;
byId("about").textContent = study.consent;
const over = study.done === study.of;
byId("state").textContent = over ? "You have played all tables. Thank you!" : `${study.done} of ${study.of} tables played.`;
byId("go").hidden = over;
byId("go").textContent = study.agreed ? "Go on" : "I agree: begin";
byId("go").onclick = goOn;
