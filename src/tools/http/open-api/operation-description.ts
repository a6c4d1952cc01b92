import type { Operation } from './operation.ts'

const MIN_LENGTH = 10
/** OpenAI's limit for a function. */
const MAX_LENGTH = 1_024

/** What the document says about it; where that is too little to choose by, with the method and the path before it. */
export function operationDescription({ method, path, source, pathItem }: Operation): string {
  const [summary, ...details] = [source.summary, source.description, pathItem.summary, pathItem.description]
    .map((text) => (typeof text === 'string' ? text.trim() : ''))
    .filter((text) => text !== '')
  const detail = details.find((text) => text !== summary)
  const deprecated = source.deprecated === true ? 'Deprecated.' : undefined
  const text = [deprecated, summary, detail].filter((part) => part !== undefined).join('\n')
  const enough = text.length >= MIN_LENGTH ? text : `${method} ${path}${text === '' ? '' : `: ${text}`}`
  const full = enough.length >= MIN_LENGTH ? enough : `Calls ${enough}.`
  return full.length > MAX_LENGTH ? `${full.slice(0, MAX_LENGTH - 1).toWellFormed()}…` : full
}
