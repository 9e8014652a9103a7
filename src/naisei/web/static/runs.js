"use strict";
// "Unfold all": opens what is folded; prompts are fetched as they open.
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-unfold]");
  if (!button) return;
  for (const fold of document.querySelectorAll(`${button.dataset.unfold} details`)) fold.open = true;
});
