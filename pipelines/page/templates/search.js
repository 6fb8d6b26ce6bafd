const field = document.getElementById("search"), count = document.getElementById("found");
const tables = [...document.querySelectorAll("details.table")].map(table => ({
  table, head: table.querySelector("summary").textContent.toLowerCase(),
  rows: [...table.querySelectorAll("tbody tr")].map(row => ({row, text: `${row.textContent} ${row.dataset.synonyms ?? ""}`.toLowerCase()}))}));
const filterTables = () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = text => words.every(word => text.includes(word));
  let found = 0;
  for (const {table, head, rows} of tables) {
    const isTableMatch = matches(head), matchingRows = rows.filter(entry => matches(`${head} ${entry.text}`));
    rows.forEach(entry => { entry.row.hidden = words.length > 0 && !isTableMatch && !matchingRows.includes(entry); });
    table.hidden = words.length > 0 && !isTableMatch && matchingRows.length === 0;
    table.open = words.length > 0 && matchingRows.length > 0 && !isTableMatch;
    found += table.hidden ? 0 : 1;
  }
  count.textContent = words.length ? `${found} of ${tables.length} tables` : "";
};
field.closest("p").hidden = false;
field.addEventListener("input", filterTables);
addEventListener("hashchange", () => { const table = document.getElementById(location.hash.slice(1)); if (table) table.open = true; });
