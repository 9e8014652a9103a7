"use strict";
// What every page needs beside HTMX: the proof that a request is ours, conversations as they
// happen, and copying. No page works with anything else unless it brings its own file.
(() => {
  const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";

  document.addEventListener("htmx:configRequest", (event) => {
    event.detail.headers["X-CSRF-Token"] = meta("csrf");
  });
  document.addEventListener("htmx:beforeRequest", () => notice(""));
  document.addEventListener("htmx:sendError", () => notice(
    document.documentElement.lang === "ja"
      ? "サーバーにつながりません。書いたものは消えません。"
      : "The server cannot be reached. What you wrote is still here."));

  function notice(text) {
    const place = document.getElementById("notice");
    place.replaceChildren();
    if (!text) return;
    const line = document.createElement("p");
    line.className = "notice";
    line.textContent = text;
    place.append(line);
  }

  // The field a person writes in: Enter sends, unless an input method is still composing. What
  // was written goes away only when the server has kept it.
  document.addEventListener("keydown", (event) => {
    const form = event.target.closest?.("[data-composer]");
    if (!form || event.key !== "Enter" || event.shiftKey) return;
    if (event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    form.requestSubmit();
  });
  document.addEventListener("htmx:configRequest", (event) => {
    const form = event.target.closest?.("[data-composer]");
    if (form && !event.detail.formData.get("step")) event.preventDefault();
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const form = event.target.closest?.("[data-composer]");
    if (!form || !event.detail.successful) return;
    form.reset();
    form.querySelector("textarea")?.focus();
  });

  // <div data-live="/conversations/ID/events?after=N">: what happens in a conversation. A page in the
  // background lets go of its stream: browsers have few for all their tabs together.
  function follow(place) {
    let after = new URL(place.dataset.live, location).searchParams.get("after") ?? "0";
    let source = null;
    let over = false;
    function open() {
      if (source || over || document.hidden) return;
      const url = new URL(place.dataset.live, location);
      url.searchParams.set("after", after);
      source = new EventSource(url);
      source.addEventListener("line", (event) => {
        if (event.lastEventId) after = event.lastEventId;
        swap(event.data);
      });
      source.addEventListener("status", (event) => swap(event.data));
      source.addEventListener("end", () => {
        over = true;
        close();
        if ("reload" in place.dataset) location.reload();
      });
      source.addEventListener("open", () => place.removeAttribute("data-away"));
      source.addEventListener("error", () => {
        place.setAttribute("data-away", "");
        if (source?.readyState !== EventSource.CLOSED) return;
        source = null;
        setTimeout(open, 2000);
      });
    }
    function close() { source?.close(); source = null; }
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
    document.addEventListener("htmx:afterRequest", (event) => {
      // A retry brings back a conversation whose stream has ended.
      if (event.detail.pathInfo?.requestPath?.endsWith("/retry")) { over = false; open(); }
    });
    open();
  }
  function swap(text) {
    const near = innerHeight + scrollY > document.body.scrollHeight - 240;
    htmx.swap(document.body, text, { swapStyle: "none" });
    if (near) scrollTo({ top: document.body.scrollHeight });
  }

  // <button data-copy="#id">: the text of an element. <button data-copy-url="/…">: of an address.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy],[data-copy-url]");
    if (!button) return;
    const text = button.dataset.copyUrl
      ? await (await fetch(button.dataset.copyUrl)).text()
      : document.querySelector(button.dataset.copy).innerText;
    await navigator.clipboard.writeText(text);
    const before = button.textContent;
    button.textContent = document.documentElement.lang === "ja" ? "コピーしました" : "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  });

  document.querySelectorAll("[data-live]").forEach(follow);
})();
