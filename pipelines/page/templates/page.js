for (const table of document.querySelectorAll("table.board")) table.querySelectorAll("thead th").forEach((heading, index) => {
  const key = row => row.cells[index].querySelector("data")?.value ?? "";
  const sort = () => {
    const isUp = heading.ariaSort === "descending", rows = [...table.tBodies[0].rows];
    table.querySelectorAll("thead th").forEach(other => other.removeAttribute("aria-sort"));
    heading.ariaSort = isUp ? "ascending" : "descending";
    const order = (a, b) => a === "" || b === "" ? (a === "") - (b === "") :
      (isUp ? 1 : -1) * (isNaN(a) || isNaN(b) ? a.localeCompare(b, document.documentElement.lang) : a - b);
    table.tBodies[0].append(...rows.sort((row, next) => order(key(row), key(next))));
  };
  const button = document.createElement("button");
  button.append(...heading.childNodes);
  button.addEventListener("click", sort);
  heading.append(button);
});
