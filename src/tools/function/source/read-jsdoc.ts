// What a JSDoc comment says: the text, and the parameters.

export interface JsdocParameter {
  /** As written: `city`, or `args.city` for a property. */
  name: string
  /** The type's text between the braces. */
  type: string | null
  description: string
  /** `[city]`, `[city=Rome]` or `{string=}` */
  optional: boolean
}

export interface Jsdoc {
  text: string
  parameters: JsdocParameter[]
}

export function readJsdoc(comment: string): Jsdoc {
  const lines = comment
    .replace(/^\/\*\*/, '')
    .replace(/\*\/$/, '')
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*\*?/, '').trim())
  const blocks: string[][] = [[]]
  for (const line of lines) {
    if (/^@[A-Za-z]/.test(line)) blocks.push([line])
    else blocks.at(-1)?.push(line)
  }
  const [text = [], ...tags] = blocks
  const described = tags.map((tag) => /^@(?:description|desc)\b([\s\S]*)/.exec(tag.join('\n'))?.[1]).find(Boolean)
  return {
    text: paragraphs(text.some((line) => line !== '') ? text.join('\n') : (described ?? '')),
    parameters: tags.map((tag) => parameter(tag.join('\n'))).filter((found) => found !== null),
  }
}

/** Lines of a paragraph are joined; `{@link x}` is x. */
function paragraphs(text: string): string {
  return text
    .replace(
      /\{@\w+\s+([^}|\s]*)(?:[|\s]\s*([^}]*))?\}/g,
      (_, target: string, label?: string) => label?.trim() || target,
    )
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
    .filter((paragraph) => paragraph !== '')
    .join('\n\n')
}

function parameter(tag: string): JsdocParameter | null {
  const start = /^@(?:param|arg|argument|property|prop)\s+/.exec(tag)?.[0].length
  if (start === undefined) return null
  const typeEnd = tag.charAt(start) === '{' ? closingBrace(tag, start) : start
  const type = typeEnd > start ? tag.slice(start + 1, typeEnd - 1).trim() : null
  const named = /^\s*(?:\[\s*([\w$.]+)[^\]]*\]|([\w$.]+))\s*(?:-\s+)?([\s\S]*)$/.exec(tag.slice(typeEnd))
  const name = named?.[1] ?? named?.[2]
  if (name === undefined) return null
  return {
    name,
    type: type === null ? null : type.replace(/=$/, '').trim(),
    description: paragraphs(named?.[3] ?? ''),
    optional: named?.[1] !== undefined || type?.endsWith('=') === true,
  }
}

function closingBrace(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at += 1) {
    if (text.charAt(at) === '{') depth += 1
    else if (text.charAt(at) === '}') depth -= 1
    if (depth === 0) return at + 1
  }
  return open
}
