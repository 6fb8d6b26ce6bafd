const field = document.getElementById("search"), count = document.getElementById("found");
const tables = [...document.querySelectorAll("details.table")].map(table => ({
  table, head: table.querySelector("summary").textContent.toLowerCase(),
  rows: [...table.querySelectorAll("tbody tr")].map(row => ({row, text: `${row.textContent} ${row.dataset.also ?? ""}`.toLowerCase()}))}));
const look = () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = text => words.every(word => text.includes(word));
  let found = 0;
  for (const {table, head, rows} of tables) {
    const whole = fits(head), some = rows.filter(entry => fits(`${head} ${entry.text}`));
    rows.forEach(entry => { entry.row.hidden = words.length > 0 && !whole && !some.includes(entry); });
    table.hidden = words.length > 0 && !whole && some.length === 0;
    table.open = words.length > 0 && some.length > 0 && !whole;
    found += table.hidden ? 0 : 1;
  }
  count.textContent = words.length ? `${found} of ${tables.length} tables` : "";
};
field.closest("p").hidden = false;
field.addEventListener("input", look);
addEventListener("hashchange", () => { const table = document.getElementById(location.hash.slice(1)); if (table) table.open = true; });
