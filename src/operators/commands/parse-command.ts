// A line that a person has typed in a chat, often on a phone: “curly” quotes count as quotes, and a long dash as two short ones.

import { ServerError } from '../../domain/errors.ts'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import { aliasSpec, isVerb, type Verb, type VerbSpec, verbs } from './verbs.ts'

export interface ParsedCommand {
  /** Null: it is an alias of the settings. */
  verb: Verb | null
  /** Of the verb or the alias. */
  name: string
  options: ReadonlyMap<string, string>
  /** Of a verb that takes words. */
  words: readonly string[]
  /** Of a verb that takes a text. */
  text: string
  /** If the text begins with what could be the start of an id: that, and the text after it. */
  lead: { id: string; text: string } | null
}

interface Token {
  text: string
  start: number
  end: number
  isQuoted: boolean
  /** It begins with a quote that nothing closes. */
  isOpen: boolean
}

const QUOTES = [/["“”„‟]/, /['‘’‚‛]/]
/** A phone makes one long dash of two short ones. */
const OPTION = /^(?:--|—|–)(\p{L}[\p{L}\d_-]*)(?:=(.*))?$/su
const ID_START = /^[0-9a-f][0-9a-f-]{3,35}$/i

/** Throws `command_not_found` for a word that means nothing, and `invalid_request` for options that do not fit. */
export function parseCommand(line: string, aliases: readonly string[]): ParsedCommand {
  const [first, ...tokens] = tokensOf(line)
  const typed = first?.text ?? 'help'
  const name = [typed, typed.toLowerCase().replace(/[‐‑‒–—−]/g, '-')].find(
    (one) => isVerb(one) || aliases.includes(one),
  )
  if (name === undefined) throw unknownVerb(typed, aliases)
  const verb = isVerb(name) ? name : null
  const spec: VerbSpec = verb === null ? aliasSpec : verbs[verb]
  const options = createOptions(name, spec)
  if (spec.takes === 'words') {
    return { verb, name, words: takeWords(tokens, options), options: options.found, text: '', lead: null }
  }
  const rest = takeOptions(tokens, options)
  const [id] = rest
  const lead =
    id !== undefined && !id.isQuoted && ID_START.test(id.text)
      ? { id: id.text, text: textOf(rest.slice(1), line) }
      : null
  return { verb, name, words: [], options: options.found, text: textOf(rest, line), lead }
}

/**
 * A quote counts only at the start of a word, and is closed by one at the end of a word: `don’t` and `it's` are words. What is never
 * closed is not quoted.
 */
function tokensOf(line: string): Token[] {
  const tokens: Token[] = []
  /** Where the search for a closing quote failed once, it fails for the rest of the line. */
  const unclosed = new Set<RegExp>()
  for (let at = 0; at < line.length; ) {
    if (isBlank(line[at])) {
      at += 1
      continue
    }
    const quote = QUOTES.find((one) => one.test(line[at] ?? ''))
    const close = quote === undefined || unclosed.has(quote) ? -1 : closingQuote(line, at + 1, quote)
    if (quote !== undefined && close === -1) unclosed.add(quote)
    const end = close === -1 ? wordEnd(line, at) : close + 1
    const text = close === -1 ? line.slice(at, end) : line.slice(at + 1, close)
    tokens.push({ text, start: at, end, isQuoted: close !== -1, isOpen: quote !== undefined && close === -1 })
    at = end
  }
  return tokens
}

const isBlank = (char: string | undefined): boolean => char === undefined || /\s/.test(char)

function wordEnd(line: string, from: number): number {
  let end = from
  while (!isBlank(line[end])) end += 1
  return end
}

function closingQuote(line: string, from: number, quote: RegExp): number {
  for (let at = from; at < line.length; at += 1) {
    if (quote.test(line[at] ?? '') && isBlank(line[at + 1])) return at
  }
  return -1
}

function createOptions(verb: string, { options: known, usage }: VerbSpec) {
  const found = new Map<string, string>()
  const refuse = (why: string): never => {
    throw new ServerError('invalid_request', `${why} Write: ${usage}`)
  }
  return {
    found,
    /** Whether the word is an option, and how many words it takes. Throws if it cannot be one. `strict`: every option must be known. */
    take(token: Token | undefined, next: Token | undefined, strict: boolean): 0 | 1 | 2 {
      if (token === undefined || token.isQuoted) return 0
      const [, written = '', inline] = OPTION.exec(token.text) ?? []
      if (written === '') return 0
      const name = written.toLowerCase()
      if (!known.includes(name)) {
        const near = didYouMean(name, known)
        if (!strict && near === null) return 0
        refuse(`${verb} has no option --${visibleText(name)}.${near === null ? '' : ` Did you mean --${near}?`}`)
      }
      if (found.has(name)) refuse(`--${name} is there twice.`)
      const value = inline === undefined ? next?.text : inline.replace(/^["“”„‟'‘’‚‛]|["“”„‟'‘’‚‛]$/g, '')
      if (value === undefined || value === '') return refuse(`--${name} needs a value.`)
      found.set(name, value)
      return inline === undefined ? 2 : 1
    },
  }
}

type Options = ReturnType<typeof createOptions>

function takeWords(tokens: readonly Token[], options: Options): string[] {
  const words: string[] = []
  for (let i = 0; i < tokens.length; ) {
    const token = tokens[i]
    const taken = options.take(token, tokens[i + 1], true)
    if (taken === 0 && token !== undefined) {
      if (token.isOpen) throw new ServerError('invalid_request', 'A quote is never closed.')
      words.push(token.text)
    }
    i += taken || 1
  }
  return words
}

/** Options of a text stand before or after it. In its middle nothing is an option, and within quotes nothing at all. */
function takeOptions(tokens: readonly Token[], options: Options): readonly Token[] {
  let rest = tokens
  for (let taken = 1; taken > 0; rest = rest.slice(taken)) taken = options.take(rest[0], rest[1], true)
  for (;;) {
    const pair = rest.at(-2)
    const isPair = pair !== undefined && !/=/.test(pair.text) && options.take(pair, rest.at(-1), false) > 0
    if (isPair) rest = rest.slice(0, -2)
    else if (options.take(rest.at(-1), undefined, false) > 0) rest = rest.slice(0, -1)
    else return rest
  }
}

/** As it was typed, line breaks and quotes included. Quotes around the whole are not part of it. */
function textOf(tokens: readonly Token[], line: string): string {
  const [first] = tokens
  if (first === undefined) return ''
  return tokens.length === 1 ? first.text : line.slice(first.start, tokens.at(-1)?.end)
}

function unknownVerb(typed: string, aliases: readonly string[]): ServerError {
  const near = didYouMean(typed, [...Object.keys(verbs), ...aliases])
  const hint = near === null ? '' : ` Did you mean ${near}?`
  const shown = JSON.stringify(visibleText(typed.slice(0, 100)))
  return new ServerError('command_not_found', `There is no command ${shown}.${hint} Type help to see them all.`)
}
