// Small things that save a click.

for (const select of document.querySelectorAll("[data-jobu-goto]")) {
    select.addEventListener("change", () => {
        location.search = select.value;
    });
}

// A long piece of work goes on by itself, request after request.
document.querySelector("form[data-jobu-go-on]")?.requestSubmit();
