import { tokenize } from './tokenize.ts'
import { Unreadable } from './unreadable.ts'

/** What may follow without making a module: `import(…)`, `import.meta`, TypeScript’s `export =`, and types, which are stripped. */
const NO_MODULE = ['(', '.', '=', 'type', 'interface', 'declare']

/** Whether the top level has an `import` or `export` that is there when the file runs. */
export function hasModuleSyntax(text: string): boolean {
  if (!/\b(?:import|export)\b/.test(text)) return false
  const tokens = tokensOf(text)
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at]
    if (token === undefined) break
    if (token.pair > at) at = token.pair
    else if (token.kind === 'name' && /^(?:import|export)$/.test(token.text) && tokens[at - 1]?.text !== '.') {
      const after = tokens[at + 1]?.text ?? ''
      if (!NO_MODULE.includes(after)) return true
    }
  }
  return false
}

function tokensOf(text: string) {
  try {
    return tokenize(text)
  } catch (error) {
    if (error instanceof Unreadable) return []
    throw error
  }
}
