// The rules of `.gitignore` files, as git applies them. Our own, because an agent can write these files: the libraries turn a pattern
// into a regular expression, and one line with twenty stars keeps such an expression busy for hours. Here a pattern takes time
// proportional to pattern × name. Like git, it compares bytes, and the case of letters matters.

/** The text of one `.gitignore`. `folder` is its place relative to the workspace, with slashes; empty for the root. */
export interface IgnoreFile {
  folder: string
  text: string
}

/** Says whether the entry `name` of one folder is ignored. Whatever is in an ignored folder is ignored with it. */
type IgnoreScope = (name: string, isFolder: boolean) => boolean

interface Rule {
  isNegated: boolean
  isForFolders: boolean
  /** Compared with the path from the rule's folder, otherwise with the name alone. */
  isPath: boolean
  matches(text: string): boolean
}

export function createIgnoreRules(files: readonly IgnoreFile[] = []) {
  const rulesOf = new Map<string, Rule[]>()
  /** Rules apply to their folder and everything below. Add the rules of a folder before you ask for its scope. */
  const add = ({ folder, text }: IgnoreFile): void => {
    const rules = parseRules(text)
    if (rules.length > 0) rulesOf.set(folder, rules)
  }
  for (const file of files) add(file)

  return {
    add,
    scopeOf(folder: string): IgnoreScope {
      const groups = foldersAbove(folder).flatMap((above) => {
        const rules = rulesOf.get(above)
        if (rules === undefined) return []
        const way = bytesOf(above === '' ? folder : folder.slice(above.length + 1))
        return [{ rules, way: way === '' ? '' : `${way}/` }]
      })
      return (name, isFolder) => {
        const bytes = bytesOf(name)
        for (const { rules, way } of groups) {
          const found = rules.find(
            (rule) => (isFolder || !rule.isForFolders) && rule.matches(rule.isPath ? way + bytes : bytes),
          )
          if (found !== undefined) return !found.isNegated
        }
        return false
      }
    },
  }
}

/** The folder itself first, the root last: the nearest rules win. */
export function foldersAbove(folder: string): string[] {
  const folders = [folder]
  for (let at = folder; at !== ''; ) {
    at = at.slice(0, Math.max(0, at.lastIndexOf('/')))
    folders.push(at)
  }
  return folders
}

export const joined = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

/** One character for each byte of the text in UTF-8. */
const bytesOf = (text: string): string =>
  /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')

/** The last rule comes first, because it wins. */
function parseRules(text: string): Rule[] {
  const lines = bytesOf(text.replace(/^\ufeff/, '')).split('\n')
  return lines.flatMap((line) => parseRule(line.replace(/\r$/, '')) ?? []).reverse()
}

function parseRule(line: string): Rule | null {
  if (line.startsWith('#')) return null
  let pattern = withoutTrailingSpaces(line)
  const isNegated = pattern.startsWith('!')
  if (isNegated) pattern = pattern.slice(1)
  const isForFolders = pattern.endsWith('/')
  if (isForFolders) pattern = pattern.slice(0, -1)
  if (pattern === '') return null
  const isPath = pattern.includes('/')
  const matches = createMatcher(isPath && pattern.startsWith('/') ? pattern.slice(1) : pattern, isPath)
  return matches === null ? null : { isNegated, isForFolders, isPath, matches }
}

/** A space at the end counts only behind a backslash. */
function withoutTrailingSpaces(line: string): string {
  let end = 0
  for (let i = 0; i < line.length; i += 1) {
    if (line[i] === '\\') {
      i += 1
      end = Math.min(i + 1, line.length)
    } else if (line[i] !== ' ') end = i + 1
  }
  return line.slice(0, end)
}

/** A part of a pattern. `star`: any characters but slashes; `across`: any characters; `folders`: nothing, or whole folder names. */
type Part = { code: number } | { set: Uint8Array } | 'one' | 'star' | 'across' | 'folders'

const SLASH = 0x2f

/** Null if nothing can match the pattern. */
function createMatcher(pattern: string, isPath: boolean): ((text: string) => boolean) | null {
  if (!/[*?[\\]/.test(pattern)) return (text) => text === pattern
  if (!isPath && /^\*[^*?[\\]+$/.test(pattern)) {
    const end = pattern.slice(1)
    return (text) => text.endsWith(end)
  }
  const prefix = /^[^*?[\\]*/.exec(pattern)?.[0] ?? ''
  // Git compares the prefix first and forgets it. So in `a**/b` the stars stand at the start, and `ab` matches.
  const parts = parseParts(pattern.slice(prefix.length), isPath)
  return parts && ((text) => text.startsWith(prefix) && follows(parts, text.slice(prefix.length)))
}

/** Follows all places in the pattern that the text so far can have reached, all at once, and never goes back. */
function follows(parts: readonly Part[], text: string): boolean {
  let now = new Set<number>()
  let next = new Set<number>()
  /** Adds a place, and the places after it as far as they may match nothing. */
  const reach = (at: number): void => {
    for (let place = at; ; place += 1) {
      next.add(place)
      const part = parts[place]
      if (part !== 'star' && part !== 'across' && part !== 'folders') return
    }
  }
  reach(0)
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    ;[now, next] = [next, now]
    next.clear()
    for (const place of now) {
      const part = parts[place]
      if (part === undefined) continue
      if (part === 'star') {
        if (code !== SLASH) reach(place)
      } else if (part === 'across') reach(place)
      else if (part === 'folders') {
        // In the middle of a name only its slash leads on.
        next.add(place)
        if (code === SLASH) reach(place + 1)
      } else if (part === 'one' ? code !== SLASH : 'code' in part ? part.code === code : part.set[code] === 1) {
        reach(place + 1)
      }
    }
    if (next.size === 0) return false
  }
  return next.has(parts.length)
}

function parseParts(pattern: string, isPath: boolean): Part[] | null {
  const parts: Part[] = []
  for (let i = 0; i < pattern.length; i += 1) {
    const char = pattern[i]
    if (char === '?') parts.push('one')
    else if (char === '*') {
      const first = i
      while (pattern[i + 1] === '*') i += 1
      const rest = pattern.slice(i + 1)
      const isWhole =
        isPath &&
        i > first &&
        (first === 0 || pattern[first - 1] === '/') &&
        (rest === '' || rest.startsWith('/') || rest.startsWith('\\/'))
      if (isWhole && rest.startsWith('/')) {
        parts.push('folders')
        i += 1
      } else parts.push(isWhole ? 'across' : 'star')
    } else if (char === '[') {
      const found = parseSet(pattern, i)
      if (found === null) return null
      parts.push({ set: found.set })
      i = found.end
    } else {
      if (char === '\\') i += 1
      if (i >= pattern.length) return null
      parts.push({ code: pattern.charCodeAt(i) })
    }
  }
  return parts
}

const CLASSES: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    alnum: /[0-9A-Za-z]/,
    alpha: /[A-Za-z]/,
    blank: /[ \t]/,
    // biome-ignore lint/suspicious/noControlCharactersInRegex: git knows this class.
    cntrl: /[\0-\x1f\x7f]/,
    digit: /[0-9]/,
    graph: /[!-~]/,
    lower: /[a-z]/,
    print: /[ -~]/,
    punct: /[!-/:-@[-`{-~]/,
    space: /[ \t-\r]/,
    upper: /[A-Z]/,
    xdigit: /[0-9A-Fa-f]/,
  }),
)

/** `[a-z]`, `[!a]`, `[[:digit:]_]`. Null if the set does not end or names an unknown class: then git matches nothing. */
function parseSet(pattern: string, start: number): { set: Uint8Array; end: number } | null {
  const set = new Uint8Array(256)
  let i = start + 1
  const isNegated = pattern[i] === '!' || pattern[i] === '^'
  if (isNegated) i += 1
  let last: number | null = null
  for (let isFirst = true; isFirst || pattern[i] !== ']'; isFirst = false) {
    if (i >= pattern.length) return null
    const name = /^\[:([^\]]*?):\]/.exec(pattern.slice(i, i + 20))
    if (name !== null) {
      const members = CLASSES.get(name[1] ?? '')
      if (members === undefined) return null
      for (let code = 0; code < 256; code += 1) if (members.test(String.fromCharCode(code))) set[code] = 1
      i += name[0].length
      last = null
      continue
    }
    const isRange: boolean = last !== null && pattern[i] === '-' && i + 1 < pattern.length && pattern[i + 1] !== ']'
    if (isRange) i += 1
    if (pattern[i] === '\\') i += 1
    if (i >= pattern.length) return null
    const code = pattern.charCodeAt(i)
    // A range that runs backwards is empty.
    set.fill(1, isRange && last !== null ? last : code, code + 1)
    last = isRange ? null : code
    i += 1
  }
  if (isNegated) for (let code = 0; code < 256; code += 1) set[code] = set[code] === 1 ? 0 : 1
  set[SLASH] = 0
  return { set, end: i }
}
