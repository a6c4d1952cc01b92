// Shows a message as a person sees it in Slack, so that a screenshot can be looked at. A mention that Slack would act on is a loud
// badge, wherever it stands: text of an agent that gets one through cannot be missed.

import { isRecord } from '../../../domain/is-record.ts'
import type { SlackBlock } from './check-blocks.ts'

export interface Card {
  /** Stands above the card on the page. */
  title: string
  message: {
    /** What a notification shows. It is the message itself if there are no blocks. */
    text: string
    blocks: readonly SlackBlock[]
    files?: readonly { name: string; content: Buffer }[]
  }
}

/** A whole page. It loads nothing and runs nothing. */
export function renderCards(cards: readonly Card[]): string {
  const shown = cards.map(({ title, message }) => `<h2>${escaped(title)}</h2>${renderCard(message)}`)
  return `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Cards</title><style>${STYLE}</style><body>${shown.join('\n')}</body></html>`
}

export function renderCard({ text, blocks, files = [] }: Card['message']): string {
  const body =
    blocks.length === 0
      ? `<div class="section"><div class="main">${mrkdwn(text, false)}</div></div>`
      : blocks.map(renderBlock).join('')
  const notice = blocks.length === 0 ? '' : `<div class="notice">Notification: ${mrkdwn(text, false)}</div>`
  const attached = files.map(
    ({ name, content }) => `<div class="file"><b>${escaped(name)}</b><pre>${escaped(content.toString())}</pre></div>`,
  )
  const author = '<div class="author"><span class="avatar"></span><b>quarterdeck</b> <span class="app">APP</span></div>'
  return `<article class="card">${notice}${author}${body}${attached.join('')}</article>`
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Slack knows three entities. One pass, so that `&amp;lt;` stays `&lt;`. */
const decoded = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>' })[name] ?? '')

const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : [])
const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function renderBlock(block: SlackBlock): string {
  switch (block.type) {
    case 'header':
      return `<h3>${textObject(block.text)}</h3>`
    case 'divider':
      return '<hr>'
    case 'section': {
      const text = block.text === undefined ? '' : `<div>${textObject(block.text)}</div>`
      const fields = listOf(block.fields).map((field) => `<div>${textObject(field)}</div>`)
      const grid = fields.length === 0 ? '' : `<div class="fields">${fields.join('')}</div>`
      const accessory = isRecord(block.accessory) ? element(block.accessory) : ''
      return `<div class="section"><div class="main">${text}${grid}</div>${accessory}</div>`
    }
    case 'context':
      return `<div class="context">${listOf(block.elements).map(element).join(' ')}</div>`
    case 'actions':
      return `<div class="actions">${listOf(block.elements).map(element).join('')}</div>`
    case 'image':
      return `<div class="section">[picture: ${escaped(stringOf(block.alt_text))}]</div>`
    case 'rich_text':
      return `<div class="section"><div class="main">${listOf(block.elements).map(richPart).join('')}</div></div>`
    default:
      return `<div class="broken">unknown block: ${escaped(block.type)}</div>`
  }
}

function textObject(value: unknown): string {
  if (!isRecord(value)) return '<span class="broken">no text</span>'
  const text = stringOf(value.text)
  return value.type === 'mrkdwn' ? mrkdwn(text, value.verbatim !== true) : plainText(text, value.emoji !== false)
}

function element(value: Record<string, unknown>): string {
  if (value.type === 'image') return `[picture: ${escaped(stringOf(value.alt_text))}]`
  if (value.type === 'mrkdwn' || value.type === 'plain_text') return `<span>${textObject(value)}</span>`
  if (value.type !== 'button') return `<span class="button">${escaped(stringOf(value.type))} ▾</span>`
  const style = value.style === 'primary' || value.style === 'danger' ? ` ${value.style}` : ''
  const link = value.url === undefined ? '' : ' ↗'
  return `<span class="button${style}">${textObject(value.text)}${link}</span>${confirmation(value.confirm)}`
}

/** Slack shows it after the click; on the page it stands beside the button. */
function confirmation(value: unknown): string {
  if (!isRecord(value)) return ''
  const buttons = `<span class="button">${textObject(value.deny)}</span><span class="button primary">${textObject(value.confirm)}</span>`
  return `<div class="confirm"><b>${textObject(value.title)}</b><div>${textObject(value.text)}</div>${buttons}</div>`
}

function richPart(part: Record<string, unknown>): string {
  const inside = () => listOf(part.elements).map(richInline).join('')
  switch (part.type) {
    case 'rich_text_section':
      return `<div>${inside()}</div>`
    case 'rich_text_preformatted':
      return `<pre>${inside()}</pre>`
    case 'rich_text_quote':
      return `<blockquote>${inside()}</blockquote>`
    case 'rich_text_list': {
      const tag = part.style === 'ordered' ? 'ol' : 'ul'
      return `<${tag}>${listOf(part.elements)
        .map((item) => `<li>${richPart(item)}</li>`)
        .join('')}</${tag}>`
    }
    default:
      return `<span class="broken">unknown part: ${escaped(stringOf(part.type))}</span>`
  }
}

/** Here text is only text: no markup, no entities, no mentions. */
function richInline(part: Record<string, unknown>): string {
  const styles = isRecord(part.style) ? part.style : {}
  const tags = { bold: 'b', italic: 'i', strike: 's', code: 'code' }
  const wrap = (html: string) =>
    Object.entries(tags).reduce(
      (inner, [name, tag]) => (styles[name] === true ? `<${tag}>${inner}</${tag}>` : inner),
      html,
    )
  switch (part.type) {
    case 'text':
      return wrap(escaped(stringOf(part.text)))
    case 'link':
      return wrap(linkTo(stringOf(part.url), escaped(stringOf(part.text) || stringOf(part.url))))
    case 'emoji':
      return emoji(`:${stringOf(part.name)}:`)
    case 'user':
      return badge(`@${stringOf(part.user_id)}`)
    case 'usergroup':
      return badge(`@${stringOf(part.usergroup_id)}`)
    case 'broadcast':
      return badge(`@${stringOf(part.range)}`)
    case 'channel':
      return `<span class="channel">#${escaped(stringOf(part.channel_id))}</span>`
    case 'date':
      return escaped(stringOf(part.fallback))
    default:
      return `<span class="broken">unknown element: ${escaped(stringOf(part.type))}</span>`
  }
}

const plainText = (text: string, withEmoji: boolean): string => {
  const html = escaped(decoded(text))
  return withEmoji ? emoji(html) : html
}

/** The target stands behind the words: a link that says something else than it does is seen. */
const linkTo = (url: string, label: string): string =>
  `<span class="link">${label}</span>${label === escaped(url) ? '' : `<span class="target"> → ${escaped(url)}</span>`}`

/** Somebody gets a notification because of this. */
const badge = (text: string): string => `<strong class="mention">PINGS ${escaped(text)}</strong>`

/**
 * Slack's own markup. `isParsed`: Slack also makes links of bare addresses and mentions of `@channel`, as it does in blocks unless they
 * are `verbatim`. The order matters: what stands in angle brackets comes first, also inside code; then code, whose content is left
 * alone; then the rest.
 */
export function mrkdwn(text: string, isParsed: boolean): string {
  const pieces: string[] = []
  /** A finished piece of HTML is out of reach of the steps that follow. U+FDD0 is not a character of any text. */
  const keep = (html: string) => `\uFDD0${pieces.push(html) - 1}\uFDD0`
  const restore = (html: string): string =>
    // Pieces may stand in pieces: a mention in code.
    html.replaceAll(/\uFDD0(\d+)\uFDD0/g, (_, i: string) => restore(pieces[Number(i)] ?? ''))

  let html = text.replaceAll('\uFDD0', '\uFFFD')
  html = html.replaceAll(/<([^<>\n]+)>/g, (whole, inside: string) => {
    const shown = controlSequence(inside)
    return shown === null ? whole : keep(shown)
  })
  html = html
    .replaceAll(/&(?!(?:amp|lt|gt);)/g, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    // Only a quote at the start of a line may begin with a bare one.
    .replaceAll('>', '&gt;')
  html = html.replaceAll(/```\n?([\s\S]*?)\n?```/g, (_, code: string) => keep(`<pre>${code}</pre>`))
  html = html.replaceAll(/(?<![`\p{L}\p{N}])`([^`\n]+)`(?![`\p{L}\p{N}])/gu, (_, code: string) =>
    keep(`<code>${code}</code>`),
  )
  if (isParsed) html = autoParsed(html, keep)
  for (const [mark, tag] of [
    ['\\*', 'b'],
    ['_', 'i'],
    ['~', 's'],
  ] as const) {
    const pattern = new RegExp(
      `(?<![\\p{L}\\p{N}${mark}])${mark}(?=\\S)([^\\n]*?\\S)${mark}(?![\\p{L}\\p{N}${mark}])`,
      'gu',
    )
    html = html.replaceAll(pattern, `<${tag}>$1</${tag}>`)
  }
  html = html.replaceAll(/^&gt;&gt;&gt; ?([\s\S]*)/gm, '<blockquote>$1</blockquote>')
  html = html.replaceAll(/(?:^&gt;.*\n?)+/gm, (lines) => {
    return `<blockquote>${lines.replaceAll(/^&gt; ?/gm, '').replace(/\n$/, '')}</blockquote>`
  })
  return restore(emoji(html))
}

/** What `<…>` means; null if it means nothing and stays text. */
function controlSequence(inside: string): string | null {
  const [target = '', label = ''] = inside.split(/\|(.*)/s)
  if (/^@[UW][A-Z0-9]+$/.test(target)) return badge(target)
  if (/^!(channel|here|everyone|group)$/.test(target)) return badge(`@${target.slice(1)}`)
  if (target.startsWith('!subteam^')) return badge(`@${target.slice('!subteam^'.length)}`)
  if (target.startsWith('!date^')) return escaped(decoded(label))
  if (target.startsWith('!')) return escaped(decoded(label || target))
  if (/^#C[A-Z0-9]+$/.test(target)) return `<span class="channel">#${escaped(decoded(label || target.slice(1)))}</span>`
  if (!/^(https?|mailto|tel|ftp|slack):/i.test(target)) return null
  return linkTo(decoded(target), escaped(decoded(label || target)))
}

/** What Slack makes of plain words if nobody forbids it. Names of files such as `README.md` look like addresses. */
function autoParsed(html: string, keep: (html: string) => string): string {
  const address =
    /(?<![\p{L}\p{N}@/._-])(?:https?:\/\/[^\s\uFDD0]+|(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|app|ai|md|sh|py|rs)\b[^\s\uFDD0]*)/giu
  return html
    .replaceAll(/(?<![\p{L}\p{N}])@(channel|here|everyone)\b/gu, (_, name: string) => keep(badge(`@${name}`)))
    .replaceAll(address, (url) => keep(`<span class="link">${url}</span>`))
}

const EMOJI: Record<string, string> = {
  bell: '🔔',
  eyes: '👀',
  fire: '🔥',
  hourglass: '⏳',
  hourglass_flowing_sand: '⏳',
  information_source: 'ℹ️',
  large_blue_circle: '🔵',
  large_green_circle: '🟢',
  large_yellow_circle: '🟡',
  lock: '🔒',
  no_entry: '⛔',
  octagonal_sign: '🛑',
  pencil: '📝',
  question: '❓',
  red_circle: '🔴',
  robot_face: '🤖',
  rotating_light: '🚨',
  speech_balloon: '💬',
  tada: '🎉',
  warning: '⚠️',
  white_check_mark: '✅',
  x: '❌',
  zzz: '💤',
}

/** A code that is not in the table keeps its name: Slack knows far more of them. */
const emoji = (html: string): string =>
  html.replaceAll(/:([a-z0-9_+-]+):/g, (whole, name: string) =>
    Object.hasOwn(EMOJI, name)
      ? (EMOJI[name] ?? whole)
      : /^\d+$/.test(name)
        ? whole
        : `<span class="emoji">${whole}</span>`,
  )

const STYLE = `
body { margin: 24px; width: 720px; font: 15px/1.47 Lato, 'Helvetica Neue', Arial, sans-serif; color: #1d1c1d; background: #fff }
h2 { font-size: 13px; color: #1264a3; margin: 28px 0 4px }
.card { border-bottom: 1px solid #eee; padding: 8px 0 12px 48px; position: relative; overflow-wrap: anywhere; white-space: pre-wrap }
.card > *, .card > * > * { white-space: pre-wrap }
.notice { font-size: 12px; color: #868686; margin-left: -48px; border-left: 3px solid #ddd; padding-left: 6px }
.author .avatar { position: absolute; left: 4px; width: 36px; height: 36px; border-radius: 4px; background: #4a154b }
.app { font-size: 10px; background: #ddd; border-radius: 2px; padding: 1px 3px }
h3 { font-size: 18px; margin: 8px 0 4px }
.section { display: flex; gap: 16px; margin: 4px 0; max-width: 600px }
.main { flex: 1; min-width: 0 }
.fields { display: grid; grid-template-columns: 1fr 1fr; gap: 4px 16px }
.context { font-size: 12px; color: #616061; margin: 4px 0 }
.actions { display: flex; flex-wrap: wrap; gap: 8px; margin: 6px 0 }
.button { display: inline-block; align-self: start; border: 1px solid #bbb; border-radius: 4px; padding: 2px 12px; font-weight: 700; font-size: 13px; background: #fff }
.button.primary { background: #007a5a; border-color: #007a5a; color: #fff }
.button.danger { background: #e01e5a; border-color: #e01e5a; color: #fff }
.confirm { border: 1px dashed #999; border-radius: 6px; padding: 6px 10px; font-size: 13px }
pre { background: #f8f8f8; border: 1px solid #ddd; border-radius: 4px; padding: 8px; margin: 4px 0; font: 12px/1.5 Monaco, Menlo, 'DejaVu Sans Mono', monospace; white-space: pre-wrap }
code { background: #f8f8f8; border: 1px solid #ddd; border-radius: 3px; padding: 1px 3px; font: 12px Monaco, Menlo, 'DejaVu Sans Mono', monospace; color: #e01e5a }
blockquote { border-left: 4px solid #ddd; margin: 4px 0; padding-left: 10px }
ul, ol { margin: 4px 0 }
hr { border: 0; border-top: 1px solid #ddd; margin: 12px 0 }
.link { color: #1264a3; text-decoration: underline }
.target { color: #b35900; font-size: 11px }
.channel { color: #1264a3; background: #e8f5fa }
.emoji { color: #616061 }
.file { border: 1px solid #ddd; border-radius: 6px; padding: 8px; margin: 6px 0; max-width: 600px }
.mention { background: #e01e5a; color: #fff; font-size: 17px; padding: 2px 8px; border-radius: 4px; outline: 3px solid #ffd500 }
.broken { background: #ff0; color: #c00 }
`
