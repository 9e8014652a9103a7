"use strict";
// Keys of an episode: what a key does is a link of the page, so that all of it works without them.
(() => {
  let playing = null;
  const link = (key) => document.querySelector(`[data-key="${CSS.escape(key)}"]`);

  function pause() { clearInterval(playing); playing = null; }
  function play() {
    if (playing) return pause();
    if (!link("ArrowRight")) link("Home")?.click();
    playing = setInterval(() => (link("ArrowRight") ?? pause())?.click(), 900);
  }
  async function copy(button) {
    await navigator.clipboard.writeText(location.href);
    button.dataset.before ??= button.innerHTML;
    button.textContent = document.documentElement.lang === "ja" ? "コピーしました" : "Copied";
    setTimeout(() => { button.innerHTML = button.dataset.before; }, 4000);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const at = event.target;
    if (event.key === "Escape") return at.blur?.();
    if (at.closest?.("textarea, select, input:not([type=radio], [type=checkbox])")) return;
    if (event.key === " ") {
      if (at.closest?.("a, button, summary") || !document.getElementById("play")) return;
      event.preventDefault();
      return play();
    }
    if (event.key === "/") {
      event.preventDefault();
      return document.querySelector("#find, #q")?.focus();
    }
    if (event.key === "?") {
      const help = document.getElementById("help");
      help.open = !help.open;
      if (help.open) help.querySelector("summary").focus();
      return;
    }
    if (event.key === "c") return document.querySelector("[data-copy-address]")?.click();
    if (event.key === "Enter" && at.closest?.("a, button, summary")) return;
    const found = link(event.key);
    if (!found) return;
    event.preventDefault();
    if (found.matches("textarea")) found.focus();
    else found.click();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("#play")) play();
    const button = event.target.closest?.("[data-copy-address]");
    if (button) copy(button);
    const bar = event.target.closest?.(".lanes a");
    if (!bar) return;
    // HTMX does not boost links within a drawing.
    event.preventDefault();
    htmx.ajax("GET", bar.getAttribute("href"), { source: "#replay", target: "#replay", select: "#replay", swap: "outerHTML show:none" });
    history.replaceState(null, "", bar.getAttribute("href"));
  });
  document.addEventListener("change", (event) => {
    if (event.target.id === "at") event.target.form.requestSubmit();
  });
  const ready = () => { const button = document.getElementById("play"); if (button) button.hidden = false; };
  document.addEventListener("htmx:afterSettle", ready);
  ready();
})();
