// The words of a command line as a program gets them, as far as they can be known without running anything.

import { type Command, forEachChild, parse, type SyntaxNode, type Word, type WordPart } from 'unbash'
import { looksSecret } from '../../domain/text/secret-name.ts'

export interface ShellWord {
  /** Without quotes and escapes. */
  text: string
  /** `plain`: exactly this text. `glob`: the files that match it. `one`: one word, and nobody knows which. `any`: any number of them. */
  kind: 'plain' | 'glob' | 'one' | 'any'
  /** What its variables give away if the word is only printed. */
  variables: 'harmless' | 'secret' | 'odd'
}

export const plainWord = (text: string): ShellWord => ({ text, kind: 'plain', variables: 'harmless' })

const MAX_BRACED = 50
/** What stands for the output of a command in `<( )`. */
export const STREAM = '/dev/fd/63'

export interface Known {
  /** What `~` means. */
  home: string
  /** Variables of loops over words that are known. */
  loops: ReadonlyMap<string, ShellWord>
}

export function shellWords(word: Word, known: Known): ShellWord[] {
  const [part, ...others] = word.parts ?? []
  const inner = part?.type === 'DoubleQuoted' && part.parts.length === 1 ? part.parts[0] : part
  const bound =
    others.length === 0 && inner?.type === 'SimpleExpansion' ? known.loops.get(inner.text.slice(1)) : undefined
  // Without quotes the name of a file may become several words, and a pattern the files that match it.
  if (bound !== undefined && (inner !== part || (bound.kind === 'plain' && /^[\w./:@+-]+$/.test(bound.text))))
    return [bound]
  if (others.length === 0 && part?.type === 'ProcessSubstitution' && part.operator === '<')
    return [{ ...plainWord(STREAM), kind: 'one' }]
  const braced = word.parts?.some(({ type }) => type === 'BraceExpansion') === true
  if (braced) return expanded(word.text).flatMap((text) => oneWord(text, known))
  return [decoded(word, known)]
}

/** `a{b,c}` → `ab`, `ac`. What has quotes or variables, or becomes too much, stays as it is and is not known. */
function expanded(text: string): string[] {
  if (/["'`$\\]|\.\./.test(text)) return [text]
  const done: string[] = []
  const left = [text]
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const [whole, inner] = /\{([^{}]*,[^{}]*)\}/.exec(next) ?? []
    if (whole === undefined || inner === undefined) done.push(next)
    else for (const one of inner.split(',')) left.push(next.replace(whole, () => one))
    if (left.length + done.length > MAX_BRACED) return [text]
  }
  return done
}

function oneWord(text: string, known: Known): ShellWord[] {
  const unclear: ShellWord = { text, kind: 'any', variables: 'harmless' }
  if (/[{}"'`$\\\s]/.test(text)) return [unclear]
  if (text === '') return []
  const { commands } = parse(text)
  const [first] = commands
  return first?.command.type === 'Command' && first.command.name !== undefined
    ? [decoded(first.command.name, known)]
    : [unclear]
}

function decoded({ text, value, parts }: Word, { home, loops }: Known): ShellWord {
  const word: ShellWord = { text: value, kind: 'plain', variables: 'harmless' }
  const look = (part: WordPart, quoted: boolean): void => {
    if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') for (const one of part.parts) look(one, true)
    else if (part.type === 'Glob' || part.type === 'ExtendedGlob') {
      if (word.kind === 'plain') word.kind = 'glob'
      // Inside brackets there may be a variable.
      if (part.type === 'ExtendedGlob' || (part.parts ?? []).some(({ type }) => type !== 'Literal')) word.kind = 'any'
    } else if (part.type !== 'Literal' && part.type !== 'SingleQuoted' && part.type !== 'AnsiCQuoted') {
      const bound = part.type === 'SimpleExpansion' ? loops.get(part.text.slice(1)) : undefined
      const text = bound?.kind === 'plain' && /^[\w-]+$/.test(bound.text) ? bound.text : knownText(part)
      const [before = '', after = '', ...more] = word.text.split(part.text)
      // `$PWD-other` is a folder beside it.
      const isWhole = /^(?:|.*=)$/s.test(before) && /^(?:\/|$)/.test(after)
      if (text !== null && more.length === 0 && (text !== '.' || isWhole)) {
        word.text = word.text.replace(part.text, () => text)
        return
      }
      word.kind =
        quoted && word.kind !== 'any' && !/[@*]/.test(part.type === 'CommandExpansion' ? '' : part.text) ? 'one' : 'any'
      const gives = given(part)
      if (gives !== 'harmless' && word.variables !== 'secret') word.variables = gives
    }
  }
  for (const part of parts ?? []) look(part, false)
  if (text.startsWith('~')) {
    if (!/^~(?:\/|$)/.test(value)) word.kind = 'any'
    word.text = home + value.slice(1)
  }
  return word
}

/** The folder where the shell is, and revisions that git itself names. */
function knownText(part: WordPart): string | null {
  if (/^(?:\$PWD|\$\{PWD\}|\$\(pwd\)|`pwd`)$/.test(part.text)) return '.'
  return /^(?:\$\(|`)git (?:describe|merge-base)(?: [\w./^~=-]+)*(?:\)|`)$/.test(part.text) ? 'HEAD' : null
}

/** In the environment short names are usual, and addresses with a password in them. */
const holdsSecret = (name: string): boolean =>
  looksSecret(name) ||
  /PASS|(?:^|_)(?:PWD|AUTH|PAT|KEY|DSN|CREDS?)$|(?:DATABASE|DB|REDIS|MONGO\w*|POSTGRES\w*|AMQP)_UR[LI]$/.test(name)

function given(part: WordPart): ShellWord['variables'] {
  if (part.type === 'CommandExpansion') return 'harmless'
  if (part.type === 'SimpleExpansion') return holdsSecret(part.text.slice(1)) ? 'secret' : 'harmless'
  if (part.type !== 'ParameterExpansion') return 'odd'
  if (holdsSecret(part.parameter)) return 'secret'
  const { prefix, index, operation } = part
  const isPlain = (word: Word | undefined): boolean => word === undefined || /^(?:\d*|[@*])$/.test(word.text)
  // An index, an offset and a prompt are evaluated, and may run something.
  const odd =
    prefix === '!' ||
    !isPlain(index) ||
    ['Transform', 'Names', 'Unknown'].includes(operation?.type ?? '') ||
    (operation?.type === 'Slice' && !(isPlain(operation.offset) && isPlain(operation.length)))
  return odd ? 'odd' : 'harmless'
}

/** The words of a command, from its program on. */
export const wordsOf = ({ name, args }: Command, known: Known): ShellWord[] =>
  [name, ...args].flatMap((arg) => {
    if (arg === undefined) return []
    if (arg.type === 'Word') return shellWords(arg, known)
    const { text, value } = arg
    const isPlain = value.type === 'Word' && decoded(value, known).kind === 'plain'
    return [{ text, kind: isPlain ? 'plain' : 'any', variables: 'harmless' }]
  })

/** Every command in a text, however deep. What cannot be known of a word is ''. */
export function allCommands(text: string): string[][] {
  const found: string[][] = []
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Command')
      found.push(wordsOf(node, { home: '~', loops: new Map() }).map((word) => (word.kind === 'plain' ? word.text : '')))
    forEachChild(node, visit)
  }
  visit(parse(text))
  return found
}
