// The plan moves with the leakage: one request at a time, the last one counts.
"use strict";
const form = document.getElementById("move");
if (form) {
  const slide = document.getElementById("slide");
  const leak = document.getElementById("leak");
  const planned = document.getElementById("planned");
  let timer = 0;
  let turn = 0;
  const refresh = async () => {
    const mine = ++turn;
    planned.setAttribute("aria-busy", "true");
    const reply = await fetch(form.dataset.part + "?leakage=" + encodeURIComponent(leak.value));
    const text = await reply.text();
    if (mine !== turn || !reply.ok) return;
    const page = new DOMParser().parseFromString(text, "text/html");
    planned.replaceChildren(...page.body.childNodes);
    planned.setAttribute("aria-busy", "false");
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(refresh, 80); };
  slide.addEventListener("input", () => { leak.value = slide.value; soon(); });
  leak.addEventListener("input", () => { slide.value = leak.value; soon(); });
  if (leak.value !== leak.defaultValue) soon(); // it was typed before this ran
  form.addEventListener("submit", (event) => { event.preventDefault(); refresh(); });
}
