"use strict";
const form = document.querySelector("form");
const shown = document.querySelector("output");
const articles = [...document.querySelectorAll("article")];
const sections = [...document.querySelectorAll("section.file")];

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

form.addEventListener("input", apply);
form.addEventListener("submit", (event) => event.preventDefault());
apply();
