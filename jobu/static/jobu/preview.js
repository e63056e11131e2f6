// Show what a cron expression means while it is typed.

const PAUSE_MS = 250;

const panel = document.getElementById("jobu-preview");
const fields = ["cron_expression", "timezone", "name"].map((name) =>
    document.getElementById(`id_${name}`),
);
let timer = 0;
let asked = 0;

async function show() {
    const [expression] = fields;
    if (!expression.value.trim()) {
        panel.replaceChildren();
        return;
    }
    const number = ++asked;
    const query = new URLSearchParams(fields.map((field) => [field.name, field.value]));
    try {
        const response = await fetch(`${panel.dataset.url}?${query}`);
        const html = await response.text();
        // An answer that was overtaken by a newer question is old news.
        if (response.ok && number === asked) {
            const answer = new DOMParser().parseFromString(html, "text/html");
            panel.replaceChildren(...answer.body.childNodes);
        }
    } catch {
        // Shown again with the next key.
    }
}

if (panel && fields.every(Boolean)) {
    fields[1].setAttribute("list", "id_timezone_zones");
    for (const field of fields) {
        field.addEventListener("input", () => {
            clearTimeout(timer);
            timer = setTimeout(show, PAUSE_MS);
        });
    }
    show();
}
