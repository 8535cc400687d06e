"use strict";
const form = document.querySelector("form");
const shown = document.querySelector("output");
const articles = [...document.querySelectorAll("article")];
const sections = [...document.querySelectorAll("section.file")];
const fields = ["rule", "impact", "path"].map((name) => form.elements[name]);

/** What is filtered stands in the address, so that it can be passed on: #rule=CG101&path=tests */
function restore() {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const field of fields) field.value = state.get(field.name) ?? "";
  apply();
}

function remember() {
  const state = new URLSearchParams();
  for (const field of fields) if (field.value !== "") state.set(field.name, field.value);
  history.replaceState(null, "", `#${state}`);
  apply();
}

function apply() {
  const { rule, impact, path } = form.elements;
  let count = 0;
  for (const article of articles) {
    const { rule: itsRule, impact: itsImpact, path: itsPath } = article.dataset;
    article.hidden =
      (rule.value !== "" && rule.value !== itsRule) ||
      (impact.value !== "" && impact.value !== itsImpact) ||
      !itsPath.toLowerCase().includes(path.value.trim().toLowerCase());
    count += article.hidden ? 0 : 1;
  }
  for (const section of sections) {
    section.hidden = section.querySelector("article:not([hidden])") === null;
  }
  shown.value = `${count} of ${articles.length} shown`;
}

form.addEventListener("input", remember);
form.addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("hashchange", restore);
restore();
