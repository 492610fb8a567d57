
(() => {
  const bar = document.querySelector(".find"), box = bar.querySelector("input"), told = bar.querySelector("output");
  const plain = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const named = (topic, one) => plain(`${topic.querySelector("h3").textContent} ${[...one.querySelectorAll(".name > bdi, .name > code")].map(part => part.textContent).join(" ")}`);
  const topics = [...document.querySelectorAll(".topic")].map(topic =>
    [topic, [...topic.querySelectorAll(".asked")].map(one => [one, named(topic, one)])]);
  const all = topics.reduce((sum, [, inside]) => sum + inside.length, 0);
  const find = () => {
    const words = plain(box.value).split(/\s+/).filter(Boolean);
    let found = 0;
    for (const [topic, inside] of topics) {
      let here = 0;
      for (const [one, text] of inside) here += !(one.hidden = !words.every(word => text.includes(word)));
      topic.hidden = !here;
      found += here;
    }
    told.textContent = words.length ? `${found} of ${all}` : "";
    const first = document.querySelector(".topic:not([hidden])") ?? document.getElementById("numbers");
    if (words.length && first.getBoundingClientRect().top > innerHeight / 2) first.scrollIntoView();
  };
  bar.hidden = false;
  box.addEventListener("input", find);
  if (box.value) find();
})();
