import { ServerError } from '../domain/errors.ts'

/** One problem in the configuration. The message says how to fix it. */
export interface ConfigIssue {
  /** The file, as the caller named it; null if a flag or a variable is wrong. */
  file: string | null
  /** 1-based; null if the issue has no place in a file. */
  line: number | null
  column: number | null
  /** The key (`model.temperature`, `tools[0].name`), the flag (`--port`) or the variable (`PORT`); may be empty. */
  path: string
  message: string
}

/** An issue without a line: about a flag, a variable or a whole file. */
export const issueWithoutLine = (
  message: string,
  { file = null, path = '' }: { file?: string | null; path?: string } = {},
): ConfigIssue => ({ file, line: null, column: null, path, message })

/** Each once: files in one folder share a `.env`, and each of them reports its mistakes. */
export const distinctIssues = (issues: readonly ConfigIssue[]): ConfigIssue[] => [
  ...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values(),
]

/** All problems at once. The message has one line per issue. */
export class ConfigError extends ServerError {
  readonly issues: readonly ConfigIssue[]

  constructor(issues: readonly ConfigIssue[]) {
    super('config_invalid', issues.map(formatIssue).join('\n'), { details: { issues } })
    this.name = 'ConfigError'
    this.issues = issues
  }
}

/** `agent.yaml:4:16 model.temperature: expected …` */
export function formatIssue(issue: ConfigIssue): string {
  const place = [issue.file, issue.line, issue.column].filter((part) => part !== null).join(':')
  const subject = [place, issue.path].filter((part) => part !== '').join(' ')
  return subject === '' ? issue.message : `${subject}: ${issue.message}`
}
