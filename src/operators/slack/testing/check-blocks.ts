// What Slack says about the blocks of a message: its limits, and its wording where that is known from real answers.
// Where Slack counts characters, UTF-16 units are counted here: never fewer than Slack's own count.

import { isRecord } from '../../../domain/is-record.ts'

export type SlackBlock = Record<string, unknown> & { type: string }

/** Of a message: more blocks, or more text in all blocks together, are refused. */
const MAX_BLOCKS = 50
const MAX_BLOCK_TEXT = 13_000

/** Reports what is wrong with the value at a JSON pointer. */
type Check = (value: unknown, at: string, report: (message: string, at: string) => void) => void

const characters =
  (max: number, min = 1): Check =>
  (value, at, report) => {
    if (typeof value !== 'string') report('must be a string', at)
    else if (value.length < min) report(`must be more than ${min - 1} characters`, at)
    else if (value.length > max) report(`must be less than ${max + 1} characters`, at)
  }

const choice =
  (...allowed: readonly unknown[]): Check =>
  (value, at, report) => {
    if (!allowed.includes(value)) report(`must be one of: ${allowed.join(', ')}`, at)
  }

const flag: Check = (value, at, report) => {
  if (typeof value !== 'boolean') report('must be a boolean', at)
}

const whole: Check = (value, at, report) => {
  if (!Number.isInteger(value)) report('must be an integer', at)
}

const url: Check = (value, at, report) => {
  characters(3_000)(value, at, report)
  if (typeof value === 'string' && !URL.canParse(value)) report('must be a valid url', at)
}

/** Properties whose names end in `?` are optional. Any other property is refused. */
const object = (properties: Record<string, Check>): Check => {
  const checks = new Map(Object.entries(properties).map(([name, check]) => [name.replace('?', ''), check]))
  const required = Object.keys(properties).filter((name) => !name.endsWith('?'))
  return (value, at, report) => {
    if (!isRecord(value)) return report('must be an object', at)
    for (const name of required) if (!(name in value)) report(`missing required field: ${name}`, at)
    for (const [name, part] of Object.entries(value)) {
      const check = checks.get(name)
      if (check === undefined) report(`invalid additional property: ${name}`, at)
      else check(part, `${at}/${name}`, report)
    }
  }
}

const list =
  (item: Check, max: number, min = 1): Check =>
  (value, at, report) => {
    if (!Array.isArray(value)) return report('must be an array', at)
    if (value.length > max) report(`no more than ${max} items allowed`, at)
    if (value.length < min) report(`no less than ${min} items allowed`, at)
    for (const [i, part] of value.entries()) item(part, `${at}/${i}`, report)
  }

/** One of several objects, told apart by their `type`. */
const typed =
  (kinds: Record<string, Check>): Check =>
  (value, at, report) => {
    if (!isRecord(value)) return report('must be an object', at)
    const check = typeof value.type === 'string' && Object.hasOwn(kinds, value.type) ? kinds[value.type] : undefined
    if (check === undefined) report(`unsupported type: ${String(value.type)}`, `${at}/type`)
    else check(value, at, report)
  }

const plainText = (max: number): Check => object({ type: choice('plain_text'), text: characters(max), 'emoji?': flag })

/** Slack tries both kinds of text, says that none fits, and then why. */
const anyText = (max: number): Check => {
  const check = typed({
    plain_text: plainText(max),
    mrkdwn: object({ type: choice('mrkdwn'), text: characters(max), 'verbatim?': flag }),
  })
  return (value, at, report) => {
    const found: [string, string][] = []
    check(value, at, (message, place) => void found.push([message, place]))
    if (found.length > 0) report('failed to match all allowed schemas', at)
    for (const [message, place] of found) report(message, place)
  }
}

const confirm = object({
  title: plainText(100),
  text: anyText(300),
  confirm: plainText(30),
  deny: plainText(30),
  'style?': choice('primary', 'danger'),
})

const button = object({
  type: choice('button'),
  text: plainText(75),
  'action_id?': characters(255),
  'url?': url,
  'value?': characters(2_000, 0),
  'style?': choice('primary', 'danger'),
  'confirm?': confirm,
  'accessibility_label?': characters(75),
})

const option = object({
  text: anyText(75),
  value: characters(150),
  'description?': anyText(75),
  'url?': url,
})

const overflow = object({
  type: choice('overflow'),
  'action_id?': characters(255),
  options: list(option, 5),
  'confirm?': confirm,
})

const staticSelect = object({
  type: choice('static_select'),
  'action_id?': characters(255),
  'placeholder?': plainText(150),
  options: list(option, 100),
  'initial_option?': option,
  'confirm?': confirm,
  'focus_on_load?': flag,
})

const imageElement = object({ type: choice('image'), image_url: url, alt_text: characters(2_000) })

const anything: Check = () => {}
const style: Check = anything
const inline = typed({
  text: object({ type: choice('text'), text: characters(MAX_BLOCK_TEXT), 'style?': style }),
  link: object({ type: choice('link'), url, 'text?': characters(MAX_BLOCK_TEXT), 'unsafe?': flag, 'style?': style }),
  emoji: object({ type: choice('emoji'), name: characters(100), 'unicode?': anything, 'style?': style }),
  user: object({ type: choice('user'), user_id: characters(255), 'style?': style }),
  usergroup: object({ type: choice('usergroup'), usergroup_id: characters(255), 'style?': style }),
  channel: object({ type: choice('channel'), channel_id: characters(255), 'style?': style }),
  broadcast: object({ type: choice('broadcast'), range: choice('here', 'channel', 'everyone'), 'style?': style }),
  date: object({ type: choice('date'), timestamp: whole, format: characters(255), 'url?': url, 'fallback?': anything }),
})

const richSection = object({ type: choice('rich_text_section'), elements: list(inline, 1_000, 0) })
const richPart = typed({
  rich_text_section: richSection,
  rich_text_quote: object({ type: choice('rich_text_quote'), elements: list(inline, 1_000, 0), 'border?': whole }),
  rich_text_preformatted: object({
    type: choice('rich_text_preformatted'),
    elements: list(inline, 1_000, 0),
    'border?': whole,
    'language?': characters(100),
  }),
  rich_text_list: object({
    type: choice('rich_text_list'),
    style: choice('bullet', 'ordered'),
    elements: list(richSection, 1_000),
    'indent?': whole,
    'offset?': whole,
    'border?': whole,
  }),
})

const blockId = { 'block_id?': characters(255) }
const block = typed({
  section: object({
    type: choice('section'),
    'text?': anyText(3_000),
    'fields?': list(anyText(2_000), 10),
    'accessory?': typed({ button, overflow, static_select: staticSelect, image: imageElement }),
    'expand?': flag,
    ...blockId,
  }),
  header: object({ type: choice('header'), text: plainText(150), ...blockId }),
  divider: object({ type: choice('divider'), ...blockId }),
  context: object({
    type: choice('context'),
    elements: list(typed({ plain_text: anyText(3_000), mrkdwn: anyText(3_000), image: imageElement }), 10),
    ...blockId,
  }),
  actions: object({
    type: choice('actions'),
    elements: list(typed({ button, overflow, static_select: staticSelect }), 25),
    ...blockId,
  }),
  image: object({
    type: choice('image'),
    image_url: url,
    alt_text: characters(2_000),
    'title?': plainText(2_000),
    ...blockId,
  }),
  rich_text: object({ type: choice('rich_text'), elements: list(richPart, 1_000), ...blockId }),
})

/** What Slack lists under `errors`, such as `must be less than 151 characters [json-pointer:/blocks/0/text/text]`. Empty: all is well. */
export function checkBlocks(blocks: readonly unknown[]): string[] {
  const errors: string[] = []
  const report = (message: string, at: string) => void errors.push(`${message} [json-pointer:${at}]`)
  if (blocks.length > MAX_BLOCKS) report(`no more than ${MAX_BLOCKS} items allowed`, '/blocks')
  const ids = new Set<unknown>()
  for (const [i, value] of blocks.entries()) {
    const at = `/blocks/${i}`
    block(value, at, report)
    if (!isRecord(value)) continue
    if (value.type === 'section' && !('text' in value || 'fields' in value)) report('missing required field: text', at)
    if (value.block_id !== undefined && ids.has(value.block_id)) {
      report(`\`block_id\` "${String(value.block_id)}" already exists`, `${at}/block_id`)
    }
    ids.add(value.block_id)
    reportDoubleActions(value, at, report)
  }
  return errors
}

function reportDoubleActions(
  value: Record<string, unknown>,
  at: string,
  report: (message: string, at: string) => void,
): void {
  const elements: unknown[] = value.type === 'actions' && Array.isArray(value.elements) ? value.elements : []
  const seen = new Set<unknown>()
  for (const [i, element] of elements.entries()) {
    if (!isRecord(element) || element.action_id === undefined) continue
    if (seen.has(element.action_id)) {
      report(`\`action_id\` "${String(element.action_id)}" already exists`, `${at}/elements/${i}/action_id`)
    }
    seen.add(element.action_id)
  }
}

/** Whether the text in all blocks together is too long (`msg_blocks_too_long`). Slack's limit is near 13,000 and depends on the blocks. */
export const areBlocksTooLong = (blocks: readonly unknown[]): boolean => textLength(blocks) > MAX_BLOCK_TEXT

function textLength(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, part) => sum + textLength(part), 0)
  if (!isRecord(value)) return 0
  return Object.entries(value).reduce(
    (sum, [name, part]) => sum + (name === 'text' && typeof part === 'string' ? part.length : textLength(part)),
    0,
  )
}
