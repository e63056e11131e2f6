// Keep what is not finished up to date while the page is looked at.
//
// Each element with data-jobu-live names an execution; the server returns elements with the same
// ids to put in their place. Those of a finished execution name none, and are not asked for again.

const INTERVAL_MS = 1500;
const MOST = 200;

const root = document.querySelector("[data-jobu-live-url]");

function unfinished() {
    const cells = root.querySelectorAll("[data-jobu-live]");
    return [...new Set([...cells].map((cell) => cell.dataset.jobuLive))].slice(0, MOST);
}

function put(html) {
    const answer = new DOMParser().parseFromString(html, "text/html");
    for (const cell of answer.querySelectorAll("[id]")) {
        document.getElementById(cell.id)?.replaceWith(document.adoptNode(cell));
    }
}

async function refresh() {
    const ids = unfinished();
    if (ids.length === 0) {
        if ("jobuReload" in root.dataset) {
            location.reload();
        }
        return;
    }
    if (!document.hidden) {
        try {
            const query = new URLSearchParams(ids.map((id) => ["id", id]));
            if ("jobuLiveWhy" in root.dataset) {
                query.append("why", "1");
            }
            const response = await fetch(`${root.dataset.jobuLiveUrl}?${query}`);
            if (response.ok && !response.redirected) {
                put(await response.text());
            }
        } catch {
            // The server is not there just now; the next round asks again.
        }
    }
    setTimeout(refresh, INTERVAL_MS);
}

if (root && unfinished().length > 0) {
    setTimeout(refresh, INTERVAL_MS);
}
