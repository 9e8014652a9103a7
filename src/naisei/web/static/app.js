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
  let early = false;
  document.addEventListener("htmx:configRequest", (event) => {
    const form = event.target.closest?.("[data-composer]");
    if (!form) return;
    if (event.detail.formData.get("step")) {
      // The notice on the line before this one says nothing of this one.
      document.querySelector("#status [data-rejected]")?.removeAttribute("data-rejected");
      return;
    }
    // It is not the turn of this field: what is written stays, and the notice says what is awaited.
    event.preventDefault();
    early = true;
    const choice = document.querySelector("#status form button");
    const ja = document.documentElement.lang === "ja";
    notice(choice
      ? (ja ? "先に上のボタンで答えてください。書いたものは残っています。" : "Answer by the buttons above first; what you wrote stays.")
      : (ja ? "まだあなたの番ではありません。書いたものは残っています。" : "It is not your turn yet; what you wrote stays."));
    choice?.focus();
  });
  // A line that was rejected comes back, selected; it goes when another is sent in its place.
  let sent = "";
  let rejected = "";
  function restore() {
    const field = document.querySelector("[data-composer] textarea");
    if (!sent || !field || field.value || !document.querySelector("#status [data-rejected]")) return;
    field.value = rejected = sent;
    field.select();
    sent = "";
  }
  document.addEventListener("htmx:afterRequest", (event) => {
    const form = event.target.closest?.("[data-composer]");
    if (!event.detail.successful) return;
    const written = document.querySelector("[data-composer] textarea");
    if (event.target.closest?.("#status form") && written?.value === rejected) written.value = "";
    if (!form) return;
    const field = form.querySelector("textarea");
    sent = field?.value ?? "";
    form.reset();
    field?.focus();
    restore();
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
      source.addEventListener("status", (event) => {
        swap(event.data);
        if (early && document.querySelector('#status [name="step"]')) { early = false; notice(""); }
      });
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
    // Whoever looks at the end of the conversation goes on seeing it.
    const status = document.getElementById("status");
    const near = status && status.getBoundingClientRect().top < innerHeight;
    htmx.swap(document.body, text, { swapStyle: "none" });
    restore();
    if (near) status.scrollIntoView({ block: "nearest" });
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

  // <form data-upload>: how far it is, and a button that breaks it off; the files stay chosen.
  document.querySelectorAll("[data-upload]").forEach((form) => {
    const bar = form.querySelector("progress");
    const cancel = form.querySelector("[data-cancel]");
    const going = (on) => { bar.hidden = cancel.hidden = !on; bar.value = 0; };
    cancel.addEventListener("click", () => htmx.trigger(form, "htmx:abort"));
    form.addEventListener("htmx:beforeRequest", () => going(true));
    form.addEventListener("htmx:afterRequest", () => going(false));
    form.addEventListener("htmx:xhr:progress", (event) => {
      const { loaded, total } = event.detail;
      if (total) bar.value = loaded / total;
    });
  });

  // What stands beside a conversation, and on a phone below it, is brought into sight when asked for.
  document.addEventListener("htmx:afterSettle", ({ detail: { target } }) => {
    if (target?.matches(".card > [aria-live]")) target.parentNode.scrollIntoView({ block: "nearest" });
    else if (target?.matches("[data-into-view]")) target.scrollIntoView({ block: "start" });
  });

  // A conversation that has just begun: the focus is where one writes.
  if (document.activeElement === document.body && !location.hash) {
    document.querySelector("[data-composer] textarea")?.focus({ preventScroll: true });
  }
  document.querySelectorAll("[data-live]").forEach(follow);
})();
