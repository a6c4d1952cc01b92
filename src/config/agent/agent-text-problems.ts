// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// What is wrong with the text of an agent file, as far as the text alone can say. It reads no file and no variable, imports nothing and
// starts nothing: the text may come from anybody.

import type { ConfigIssue } from '../config-error.ts'
import { explainIssues } from '../source/explain-issues.ts'
import type { Path } from '../source/json-schema-node.ts'
import { validationSchema } from '../source/schema-key.ts'
import { parseYaml, pathText } from '../source/yaml-source.ts'
import { agentYaml, starterAgent } from './agent-yaml.ts'
import { secretKeys } from './masked-source.ts'

export type TextProblem = Pick<ConfigIssue, 'path' | 'message'> & { line: number; column: number }

/** A broken text can have a problem at every letter. Who has fixed these asks again. */
const MOST_PROBLEMS = 50

/** In the order of the text. Empty: everything that the schema says is right. */
export function agentTextProblems(text: string): TextProblem[] {
  const { source, issues } = parseYaml('', text, starterAgent)
  if (source === null) return issues.slice(0, MOST_PROBLEMS).map(problemOf)
  // Nobody reads the variables, so a value with one may become anything.
  const unread = new Set<string>()
  source.mapText((value, path) => {
    if (value.includes('${')) unread.add(pathText(path))
    return value
  })
  const raw = source.value()
  const parsed = agentYaml.safeParse(raw)
  if (parsed.success) return []
  const first = parsed.error.issues
    .slice(0, MOST_PROBLEMS)
    .map((issue) =>
      issue.code === 'unrecognized_keys' ? { ...issue, keys: issue.keys.slice(0, MOST_PROBLEMS) } : issue,
    )
  const isSecret = (path: Path) => path.some((step) => secretKeys.includes(String(step)))
  const explained = explainIssues(first, {
    schema: validationSchema(agentYaml),
    value: raw,
    write: (path, example) => (typeof path.at(-1) === 'string' ? `${String(path.at(-1))}: ${example}` : example),
    hidden: isSecret,
  })
  return explained
    .filter(({ path }) => !unread.has(pathText(path)))
    .map(({ path, part, message }) => problemOf(source.issueAt(path, part, message)))
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, MOST_PROBLEMS)
}

const problemOf = ({ line, column, path, message }: ConfigIssue): TextProblem => ({
  line: line ?? 1,
  column: column ?? 1,
  path,
  message,
})
