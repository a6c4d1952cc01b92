// Semantic versions: what a change of a public file asks of the next version. docs/understand/versions.md says the rule to people.

/** The files that stand for what we promise. `npm run generate` writes them. */
export const PUBLIC_FILES = {
  'docs/openapi.json': 'the wire',
  'schema/agent.schema.json': 'the YAML',
  'schema/quarterdeck.schema.json': 'the YAML',
  'docs/public-types.txt': 'the library',
} as const

type PublicFile = keyof typeof PUBLIC_FILES

export const isPublicFile = (file: string): file is PublicFile => Object.hasOwn(PUBLIC_FILES, file)

export type Part = 'major' | 'minor' | 'patch'
const PARTS = ['major', 'minor', 'patch'] as const

interface Change {
  gone: string[]
  added: string[]
}

/** Words for people. They promise nothing. */
const TEXTS = new Set(['description', 'title', 'summary', 'examples', 'example', 'info', '$comment', 'tags'])

/** What a public file says, as short lines. */
function factsOf(file: string, text: string): Set<string> {
  if (file.endsWith('.json')) return new Set(jsonFacts(JSON.parse(text), ''))
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Set(
    lines.flatMap((line) => {
      const [, name = ''] = /^(?:export )?(?:abstract )?\w+ (\w+)/.exec(line) ?? []
      return line.split(/[;{}|,]|(?=\))/).flatMap((piece) => (piece.trim() === '' ? [] : [`${name}: ${piece.trim()}`]))
    }),
  )
}

function jsonFacts(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [`${path} = ${JSON.stringify(value)}`]
  if (Array.isArray(value)) return value.flatMap((item, index) => jsonFacts(item, `${path}/${placeOf(item, index)}`))
  return Object.entries(value).flatMap(([key, item]) =>
    // `properties` has the names of fields, and a field may be called `title`.
    TEXTS.has(key) && !path.endsWith('/properties') ? [] : [`${path}/${key}`, ...jsonFacts(item, `${path}/${key}`)],
  )
}

/** The order of plain values and of parameters means nothing. */
function placeOf(item: unknown, index: number): string {
  if (typeof item !== 'object' || item === null) return '*'
  return 'name' in item && typeof item.name === 'string' ? item.name : String(index)
}

export function changeOf(file: string, before: string, after: string): Change {
  const [old, now] = [factsOf(file, before), factsOf(file, after)]
  return { gone: [...old].filter((fact) => !now.has(fact)), added: [...now].filter((fact) => !old.has(fact)) }
}

/** What must rise at least. Before 1.0.0 a break raises the second number, and everything else the third. */
export function partToRaise({ gone, added }: Change, version: string): Part {
  const isEarly = version.startsWith('0.')
  // A key that must be given refuses what was fine without it.
  if (gone.length > 0 || added.some((fact) => fact.includes('/required/'))) return isEarly ? 'minor' : 'major'
  return added.length > 0 && !isEarly ? 'minor' : 'patch'
}

/** Whether `now` has raised this part, or one before it, since `before`. */
export function hasRaised(part: Part, before: string, now: string): boolean {
  const [old, next] = [before, now].map((version) => version.split(/[.-]/, 3).map(Number))
  const first = PARTS.findIndex((_, i) => old?.[i] !== next?.[i])
  return first >= 0 && first <= PARTS.indexOf(part) && Number(next?.[first]) > Number(old?.[first])
}

/** For a test that finds a public file changed. */
export function whatToDo(file: PublicFile, before: string, after: string, version: string): string {
  const change = changeOf(file, before, after)
  const list = (title: string, facts: string[]) =>
    facts.length === 0
      ? []
      : [`${facts.length} ${title}: ${facts.slice(0, 5).join(' · ')}${facts.length > 5 ? ' …' : ''}`]
  return [
    `${file} (${PUBLIC_FILES[file]}) differs from what the code says.`,
    ...list('gone or changed', change.gone),
    ...list('new', change.added),
    `If you mean it: npm run generate, and say it in CHANGELOG.md. The next release then raises at least the ${partToRaise(change, version)} number (docs/understand/versions.md).`,
  ].join('\n')
}
