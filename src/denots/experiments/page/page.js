"use strict";

function value(row, column) {
  const cell = row.cells[column];
  const number = parseFloat(cell.dataset.value);
  return Number.isNaN(number) ? cell.textContent.trim() : number;
}

function order(a, b) {
  const numbers = (typeof a === "number") + (typeof b === "number");
  if (numbers === 1) return typeof a === "number" ? -1 : 1;
  return numbers === 2 ? a - b : a.localeCompare(b);
}

for (const head of document.querySelectorAll("thead th")) {
  const button = document.createElement("button");
  button.textContent = head.textContent || "name";
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = head.closest("table").tBodies[0];
    const rows = [...body.rows].sort((a, b) => order(value(a, head.cellIndex), value(b, head.cellIndex)));
    body.append(...(up ? rows : rows.reverse()));
  });
}

for (const figure of document.querySelectorAll("figure")) {
  const parts = [...figure.querySelectorAll(".panels [data-system]")];
  for (const button of figure.querySelectorAll(".legend button")) {
    const own = (part) => part.dataset.system === button.dataset.system;
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") === "false";
      button.setAttribute("aria-pressed", String(shown));
      for (const part of parts.filter(own)) part.classList.toggle("off", !shown);
    });
    button.addEventListener("mouseenter", () => parts.forEach((part) => part.classList.toggle("dim", !own(part))));
    button.addEventListener("mouseleave", () => parts.forEach((part) => part.classList.remove("dim")));
  }
}

const tip = document.getElementById("tip");
for (const title of document.querySelectorAll(".panels g > title")) {
  const run = title.parentElement;
  const words = title.textContent;
  title.remove();
  run.setAttribute("aria-label", words);
  const show = (event) => {
    tip.textContent = words;
    tip.hidden = false;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 10, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.max(4, event.clientY - tip.offsetHeight - 10)}px`;
  };
  run.addEventListener("mousemove", show);
  run.addEventListener("click", show);
  run.addEventListener("mouseleave", () => { tip.hidden = true; });
}
