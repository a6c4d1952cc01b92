/** What an agent can do, in words, out of what AG-UI calls its capabilities. Unknown ones are left out. */
export function capabilityWords(capabilities: Readonly<Record<string, unknown>>): string[] {
  const words: string[] = []
  for (const [path, word] of known) if (at(capabilities, path) === true) words.push(word)
  const [steps, time] = [at(capabilities, 'execution.maxIterations'), at(capabilities, 'execution.maxExecutionTime')]
  if (typeof steps === 'number') words.push(`At most ${steps} steps`)
  if (typeof time === 'number') words.push(`At most ${timeWords(time)} a run`)
  return words
}

const timeWords = (ms: number): string => (ms % 60_000 === 0 ? `${ms / 60_000} min` : `${Math.round(ms / 1_000)} s`)

const known: readonly (readonly [path: string, word: string])[] = [
  ['transport.streaming', 'Streams its answers'],
  ['transport.resumable', 'Streams can be resumed'],
  ['humanInTheLoop.approvals', 'Asks for approval'],
  ['reasoning.supported', 'Shows its reasoning'],
  ['multimodal.input.image', 'Takes pictures'],
  ['multimodal.input.pdf', 'Takes PDF files'],
  ['output.structuredOutput', 'Answers in a fixed form'],
  ['multiAgent.supported', 'Hands work to other agents'],
  ['tools.clientProvided', 'Uses tools of the page'],
  ['state.persistentState', 'Keeps its state'],
]

function at(value: unknown, path: string): unknown {
  let place = value
  for (const name of path.split('.')) {
    if (typeof place !== 'object' || place === null) return undefined
    place = (place as Record<string, unknown>)[name]
  }
  return place
}
