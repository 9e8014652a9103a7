// Suggestions one by one, from the keyboard: j and k go, a accepts, r rejects, u takes it back.
"use strict";
(() => {
  const taken = new WeakMap();
  document.addEventListener("keydown", (event) => {
    const form = document.querySelector("form[data-review]");
    if (!form || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("textarea, select, input:not([type=checkbox])")) return;
    const boxes = [...form.querySelectorAll("input[name=keep]")];
    const at = boxes.indexOf(document.activeElement);
    const go = (to) => boxes[Math.min(Math.max(to, 0), boxes.length - 1)]?.focus();
    const undo = taken.get(form) ?? [];
    taken.set(form, undo);
    if (event.key === "j") go(at + 1);
    else if (event.key === "k") go(at - 1);
    else if ((event.key === "a" || event.key === "r") && at >= 0) {
      undo.push([at, boxes[at].checked]);
      boxes[at].checked = event.key === "a";
      go(at + 1);
    } else if (event.key === "u" && undo.length) {
      const [last, before] = undo.pop();
      boxes[last].checked = before;
      go(last);
    } else return;
    event.preventDefault();
  });
})();
