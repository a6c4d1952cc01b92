// One configuration file, from text to checked data: YAML, then variables, then the schema. Collects every mistake.

import type { z } from 'zod'
import type { ConfigIssue } from '../config-error.ts'
import type { Environment } from './env-file.ts'
import { explainIssues } from './explain-issues.ts'
import { type JsonSchema, type Path, readTextAs, schemaAt, valueAt } from './json-schema-node.ts'
import { validationSchema } from './schema-key.ts'
import { substitute, writtenText } from './substitute.ts'
import { parseYaml, pathText, type YamlSource } from './yaml-source.ts'

export interface YamlConfig<T> {
  /** Null if anything is wrong. */
  value: T | null
  /** The data with variables replaced, before the schema changed anything. */
  raw: Record<string, unknown>
  /** The value at a path of the file as it is written: a text with variables is a `WrittenText`. */
  written: (path: Path) => unknown
  /** Null if the file is not valid YAML. */
  source: YamlSource | null
  issues: ConfigIssue[]
}

export interface YamlConfigInput<S extends z.ZodType> {
  file: string
  text: string
  schema: S
  env: Environment
  /** What to write into an empty file; null if an empty file is allowed. */
  starter: string | null
  /** Keys whose values, and everything inside them, never appear in a message. */
  secrets: readonly string[]
  /** A list at the top is read as if it stood under this key. Left out: there may be none. */
  listKey?: string
}

export function readYamlConfig<S extends z.ZodType>(input: YamlConfigInput<S>): YamlConfig<z.output<S>> {
  const { source, issues } = parseYaml(input.file, input.text, input.starter, input.listKey)
  if (source === null) return { value: null, raw: {}, written: () => undefined, source, issues }

  // Only variables and messages need it, so a correct file without variables never pays for it.
  let cached: JsonSchema | null = null
  const schema = (): JsonSchema => {
    cached ??= validationSchema(input.schema)
    return cached
  }
  const tree = input.text.includes('${') ? writtenTree(source, input.env) : null
  const written = (path: Path): unknown => valueAt(tree ?? raw, path)
  // By value, not by path, because an alias repeats a value at another path.
  const fromVariables = new Set<unknown>()
  const unresolved = new Set<string>()
  const found: ConfigIssue[] = []
  source.mapText((text, path) => {
    if (!text.includes('${')) return text
    const { text: result, replaced, problems } = substitute(text, input.env)
    if (problems.length > 0) unresolved.add(pathText(path))
    for (const problem of problems) found.push(source.issueAt(path, 'value', problem))
    const value = replaced ? readTextAs(schemaAt(schema(), path), result) : result
    if (replaced) fromVariables.add(value)
    return value
  })

  const raw = source.value()
  const parsed = input.schema.safeParse(raw)
  if (parsed.success) return { value: found.length === 0 ? parsed.data : null, raw, written, source, issues: found }

  const isSecret = (path: Path) => path.some((step) => input.secrets.includes(String(step)))
  const explained = explainIssues(parsed.error.issues, {
    schema: schema(),
    value: raw,
    write: (path, example) => (typeof path.at(-1) === 'string' ? `${String(path.at(-1))}: ${example}` : example),
    hidden: (path, value) => isSecret(path) || fromVariables.has(value),
  })
  for (const { path, part, message } of explained) {
    // A variable that is not set was already reported; a second message about its placeholder would not help.
    if (!unresolved.has(pathText(path))) found.push(source.issueAt(path, part, message))
  }
  return { value: null, raw, written, source, issues: found.sort(byPlace) }
}

/** The data of the file before its variables are replaced. Restores the texts afterwards. */
function writtenTree(source: YamlSource, env: Environment): unknown {
  const texts: string[] = []
  source.mapText((text) => {
    texts.push(text)
    return writtenText(text, env)
  })
  const tree = source.value()
  source.mapText(() => texts.shift())
  return tree
}

const byPlace = (a: ConfigIssue, b: ConfigIssue): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
