// Add the log lines of a running execution as they come, while the page is looked at.

const INTERVAL_MS = 1500;
const MOST = 1000;

const table = document.querySelector("[data-jobu-lines]");
const box = table?.closest(".jobu-scroll");

function add(html) {
    const answer = new DOMParser().parseFromString(`<table>${html}</table>`, "text/html");
    const rows = answer.querySelectorAll("tr[data-cursor]");
    // Who has scrolled back is reading there.
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
    table.tBodies[0].append(...[...rows].map((row) => document.adoptNode(row)));
    while (table.tBodies[0].rows.length > MOST) {
        table.tBodies[0].rows[0].remove();
    }
    if (rows.length > 0) {
        table.hidden = false;
        document.getElementById("jobu-no-lines")?.remove();
        if (isAtEnd) {
            box.scrollTop = box.scrollHeight;
        }
    }
}

async function follow() {
    if (!document.hidden) {
        const last = table.tBodies[0].rows[table.tBodies[0].rows.length - 1];
        const query = new URLSearchParams({ level: table.dataset.level });
        query.set("after", last?.dataset.cursor ?? "0.0");
        try {
            const response = await fetch(`${table.dataset.jobuLines}?${query}`);
            if (response.ok && !response.redirected) {
                add(await response.text());
            }
        } catch {
            // The server is not there just now; the next round asks again.
        }
    }
    setTimeout(follow, INTERVAL_MS);
}

if (box) {
    box.scrollTop = box.scrollHeight;
}
if (table && "follow" in table.dataset) {
    setTimeout(follow, INTERVAL_MS);
}
