// Make a form of a handler's params. The JSON in the textarea is what is sent: the fields write it,
// and it can be edited itself.

function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value !== null && value !== undefined && value !== false) {
            made.setAttribute(name, value === true ? "" : value);
        }
    }
    made.append(...children);
    return made;
}

// Whole numbers beyond what JavaScript can hold would come back as others.
function isExact(text) {
    const numbers = text.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d{16,}/g) ?? [];
    return numbers.every((number) => Number.isSafeInteger(Number(number)));
}

class ParamsEditor {
    constructor(root) {
        this.root = root;
        this.words = root.dataset;
        this.doc = root.querySelector("[data-jobu-doc]");
        this.form = root.querySelector("[data-jobu-fields]");
        this.raw = root.querySelector("[data-jobu-raw]");
        this.state = root.querySelector("[data-jobu-json-state]");
        this.textarea = this.raw.querySelector("textarea");
        this.schema = null;
        this.tabs = element("p", { class: "jobu-modes", hidden: true });
        this.formTab = this.tab(root.dataset.textForm, () => this.showForm());
        this.jsonTab = this.tab(root.dataset.textJson, () => this.showJson());
        this.tabs.append(this.formTab, this.jsonTab);
        this.form.before(this.tabs);
        const format = element("button", { type: "button", class: "jobu-format" });
        format.textContent = this.words.textFormat;
        format.addEventListener("click", () => this.format());
        this.textarea.after(format);
        this.textarea.addEventListener("input", () => this.check());
        this.check();
    }

    tab(text, action) {
        const button = element("button", { type: "button" });
        button.textContent = text;
        button.addEventListener("click", action);
        return button;
    }

    params() {
        try {
            const value = JSON.parse(this.textarea.value.trim() || "{}");
            return typeof value === "object" && value !== null && !Array.isArray(value)
                ? value
                : null;
        } catch {
            return null;
        }
    }

    check() {
        const text = this.textarea.value.trim();
        let problem = "";
        try {
            JSON.parse(text || "{}");
        } catch (error) {
            problem = error.message;
        }
        this.state.textContent = problem;
        this.textarea.setAttribute("aria-invalid", problem ? "true" : "false");
    }

    format() {
        const value = this.params();
        if (value && isExact(this.textarea.value)) {
            this.textarea.value = JSON.stringify(value, null, 2);
        }
        this.check();
    }

    use(schema) {
        this.schema = schema;
        this.doc.textContent = schema?.doc ?? "";
        const fields = schema?.fields ?? null;
        this.tabs.hidden = !fields;
        if (fields && this.canShowForm()) {
            this.showForm();
        } else {
            this.showJson();
        }
    }

    // Only if the fields can say all that the JSON says.
    canShowForm() {
        const params = this.params();
        const names = this.schema.fields.map((field) => field.name);
        return (
            params !== null &&
            isExact(this.textarea.value) &&
            Object.keys(params).every((name) => names.includes(name)) &&
            this.schema.fields.every((field) => this.fits(field, params[field.name]))
        );
    }

    fits(field, value) {
        if (value === undefined || field.kind === "json" || this.isMasked(field, value)) {
            return true;
        }
        const types = { integer: "number", number: "number", boolean: "boolean" };
        if (field.kind === "choice") {
            return field.choices.includes(value);
        }
        return typeof value === (types[field.kind] ?? "string");
    }

    // A mask stands for a value that this user may not see; sent back, it keeps that value.
    isMasked(field, value) {
        return field.is_sensitive && value === this.words.mask;
    }

    showJson() {
        this.form.hidden = true;
        this.raw.hidden = false;
        this.mark(this.jsonTab);
        this.check();
    }

    showForm() {
        if (!this.canShowForm()) {
            this.showJson();
            return;
        }
        const params = this.params();
        this.inputs = this.schema.fields.map((field) => this.input(field, params[field.name]));
        this.form.replaceChildren(...this.inputs.map((input) => input.row));
        if (this.inputs.length === 0) {
            this.form.textContent = this.words.textNone;
        }
        this.form.hidden = false;
        this.raw.hidden = true;
        this.mark(this.formTab);
    }

    mark(tab) {
        for (const each of [this.formTab, this.jsonTab]) {
            each.setAttribute("aria-pressed", each === tab ? "true" : "false");
        }
    }

    input(field, value) {
        const control = this.control(field, value);
        control.id = `${this.textarea.id}_${field.name}`;
        const label = element("label", { for: control.id });
        label.textContent = field.name;
        const hint = element("small", { class: "jobu-quiet" });
        hint.textContent = [
            field.type,
            field.is_required
                ? this.words.textRequired
                : `${this.words.textDefault} ${JSON.stringify(field.default)}`,
        ]
            .filter(Boolean)
            .join(" · ");
        const problem = element("small", { class: "jobu-problem", role: "status" });
        control.addEventListener("input", () => this.write());
        control.addEventListener("change", () => this.write());
        const row = element("div", { class: "jobu-param" }, label, control, hint, problem);
        return { field, control, problem, row };
    }

    control(field, value) {
        if (this.isMasked(field, value)) {
            const masked = element("input", { type: "text", class: "vTextField" });
            masked.value = value;
            return masked;
        }
        const choices =
            field.kind === "boolean"
                ? [
                      [true, this.words.textYes],
                      [false, this.words.textNo],
                  ]
                : field.kind === "choice"
                  ? field.choices.map((choice) => [choice, String(choice)])
                  : null;
        if (choices) {
            const select = element("select");
            select.append(element("option", { value: "" }));
            for (const [choice, text] of choices) {
                const option = element("option", { value: JSON.stringify(choice) });
                option.textContent = text;
                option.selected = value === choice;
                select.append(option);
            }
            return select;
        }
        if (field.kind === "json") {
            const area = element("textarea", { rows: 2, class: "jobu-json", spellcheck: "false" });
            area.value = value === undefined ? "" : JSON.stringify(value);
            return area;
        }
        const numeric = { integer: "1", number: "any" }[field.kind];
        const input = element("input", {
            type: numeric ? "number" : field.kind === "date" ? "date" : "text",
            step: numeric,
            required: field.is_required,
            class: "vTextField",
        });
        input.value = value ?? "";
        return input;
    }

    // What is left empty is left out, so that the handler's own default holds.
    read({ field, control }) {
        const text = control.value;
        if (text === "") {
            return undefined;
        }
        if (this.isMasked(field, text)) {
            return text;
        }
        if (["boolean", "choice", "json"].includes(field.kind)) {
            return JSON.parse(text);
        }
        return ["integer", "number"].includes(field.kind) ? Number(text) : text;
    }

    write() {
        const params = {};
        for (const input of this.inputs) {
            let problem = "";
            try {
                const value = this.read(input);
                if (value !== undefined) {
                    params[input.field.name] = value;
                }
            } catch (error) {
                problem = error.message;
                // Sent as it stands, for the server to refuse: better than to drop it.
                params[input.field.name] = input.control.value;
            }
            input.problem.textContent = problem;
        }
        this.textarea.value = JSON.stringify(params, null, 2);
    }
}

// Take over a handler's own options where nobody has chosen others.
function adopt(options, known) {
    for (const [name, value] of Object.entries(options)) {
        const field = document.getElementById(`id_${name}`);
        if (field && field.value === (known[name] ?? field.defaultValue)) {
            field.value = value;
            known[name] = String(value);
        }
    }
}

// What cannot be edited is only the beginning of some JSON.
for (const root of document.querySelectorAll("[data-jobu-params]:not(:has(textarea:disabled))")) {
    const editor = new ParamsEditor(root);
    const select = document.getElementById(root.dataset.handlerField);
    if (!select) {
        editor.use(root.dataset.schema ? JSON.parse(root.dataset.schema) : null);
        continue;
    }
    const known = {};
    const isNew = select.value === "";
    const choose = async () => {
        if (!select.value) {
            editor.use(null);
            return;
        }
        const query = new URLSearchParams({ name: select.value });
        const response = await fetch(`${root.dataset.url}?${query}`);
        const schema = response.ok ? await response.json() : null;
        editor.use(schema);
        if (schema && isNew) {
            adopt(schema.options, known);
        }
    };
    select.addEventListener("change", choose);
    choose();
}
