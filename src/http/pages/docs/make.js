// Makes elements. Everything that comes from a document, a person or an answer is set as text and never parsed.

/** Makes an element. `text` is its text, `on` its listeners; all other keys are attributes, unless they are null or false. */
export function make(name, { text, on = {}, ...attributes } = {}, ...children) {
  const made = document.createElement(name)
  if (text !== undefined) made.textContent = text
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? '' : value)
  }
  for (const [event, listener] of Object.entries(on)) made.addEventListener(event, listener)
  made.append(...children.flat().filter((child) => child !== null))
  return made
}

/** Prose in which `backticks` mark code. */
export const prose = (text) =>
  text.split('`').map((part, i) => (i % 2 === 1 ? make('code', { text: part }) : document.createTextNode(part)))

/** A path that may break into lines after a slash. */
export const pathText = (path) =>
  path.split(/(?<=\/)/).flatMap((part, i) => (i === 0 ? [part] : [document.createElement('wbr'), part]))

/** A box whose content is made when it is first opened: there are many, and schemas contain themselves. */
export function lazyDetails(summary, content, { open = false, ...attributes } = {}) {
  const box = make('details', attributes, make('summary', {}, ...summary))
  const fill = () => box.append(...content())
  box.addEventListener('toggle', fill, { once: true })
  // Setting it fires `toggle` too.
  if (open) box.open = true
  return box
}

/** A button that copies what `text` returns, and says so. */
export function copyButton(text, label) {
  const button = make('button', { type: 'button', class: 'small', text: 'Copy', 'aria-label': label })
  button.addEventListener('click', async () => {
    // Without https, browsers on other machines have no clipboard.
    const isCopied = await (navigator.clipboard?.writeText(text()).then(
      () => true,
      () => false,
    ) ?? false)
    button.textContent = isCopied ? 'Copied' : 'Select it and copy'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2_000)
  })
  return button
}
