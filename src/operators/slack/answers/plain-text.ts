// What people type, back from Slack's markup. Slack escapes three characters and puts links, people and rooms into angle brackets.
// Everything else stays as it was typed, curly quotes too.

const ESCAPES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }

/** `nameOf`: how a person is called here; null: nobody knows. */
export function plainText(text: string, nameOf: (user: string) => string | null = () => null): string {
  return text.replaceAll(/<([^<>\n]+)>|&(?:amp|lt|gt);/g, (found, inner: string | undefined) =>
    inner === undefined ? (ESCAPES[found] ?? found) : unescaped(markup(inner, nameOf) ?? found),
  )
}

const unescaped = (text: string): string => text.replaceAll(/&(?:amp|lt|gt);/g, (found) => ESCAPES[found] ?? found)

/** Null: the brackets are no markup. */
function markup(inner: string, nameOf: (user: string) => string | null): string | null {
  const bar = inner.indexOf('|')
  const [target, label] = bar === -1 ? [inner, ''] : [inner.slice(0, bar), inner.slice(bar + 1)]
  if (/^@[UW][A-Z0-9]+$/.test(target)) return `@${nameOf(target.slice(1)) ?? (label || target.slice(1))}`
  if (/^#[CG][A-Z0-9]+$/.test(target)) return `#${label || target.slice(1)}`
  // Groups, `@channel`, and dates, whose label is the date.
  if (/^![a-z]+/.test(target)) return label || `@${target.slice(1)}`
  return /^(?:https?|ftp|mailto|tel|sms|slack):/i.test(target) ? linkText(target, label) : null
}

function linkText(url: string, label: string): string {
  if (label === '' || label === url) return url.replace(/^(?:mailto|tel):/i, '')
  // Slack makes links of names such as README.md and of addresses that somebody typed without their scheme.
  const typed = url.replace(/^(?:https?:\/\/|mailto:|tel:)/i, '')
  return typed === label || typed === `${label}/` ? label : `${label} (${url})`
}
