// Finds out what an answer cites: the numbers in its text become sources, with the text that their files have now.

import { within } from '../../domain/abort.ts'
import type { Passage } from '../../domain/knowledge/passage.ts'
import { type Citations, citedNumbers, type Shown, type Source } from '../../domain/session/source.ts'
import type { AgentParts, Lane } from '../run/run-scope.ts'
import { openNumbers } from './passage-numbers.ts'

/** Of one answer: sources, and numbers that nothing was found under. */
const MOST_CITED = 50
const MOST_CHARS = 2_500
/** An index that does not answer must not hold up the end of an answer. */
const LONGEST_MS = 5_000

/** Null: nothing. Never throws: an answer counts more than its sources. */
export async function citationsOf(lane: Lane, text: string): Promise<Citations | null> {
  const cited = citedNumbers(text)
  if (cited.length === 0) return null
  const { scope } = lane
  try {
    const numbers = await openNumbers(scope)
    const known = cited.flatMap((number) => numbers.shown(number) ?? []).slice(0, MOST_CITED)
    const notFound = cited.filter((number) => numbers.shown(number) === null).slice(0, MOST_CITED)
    for (const number of notFound) numbers.leaveOut(number)
    const now = await within(scope.clock, LONGEST_MS, passagesNow(lane, known)).catch((error: unknown) => {
      scope.log.warn('the sources of an answer could not be checked, so their texts are not shown', { error })
      return null
    })
    return { sources: known.map((shown) => sourceOf(shown, now?.get(shown.number))), notFound }
  } catch (error) {
    scope.log.warn('the sources of an answer could not be found', { error })
    return null
  }
}

function sourceOf(shown: Shown, passage: Passage | undefined): Source {
  if (passage === undefined) return { ...shown, text: '', isChanged: true }
  const { id, file, place, headings, text } = passage
  const { number, tool } = shown
  const cut = text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS - 1).toWellFormed()}…`
  return { number, tool, id, file, place, headings, text: cut, isChanged: false }
}

/** By number. An id is made of the text, so every tool that knows it means the same. */
async function passagesNow(lane: Lane, known: readonly Shown[]): Promise<Map<number, Passage>> {
  const found = new Map<number, Passage>()
  for (const [tool, all] of Map.groupBy(known, (one) => one.tool)) {
    for (const agent of agentsWith(lane, tool)) {
      const missing = all.filter(({ number }) => !found.has(number))
      if (missing.length === 0) break
      const tools = await agent.toolbox.tools(new AbortController().signal, lane.scope.run.owner)
      const finder = tools.get(tool)
      if (finder?.location !== 'server' || finder.passagesNow === undefined) continue
      const now = await finder.passagesNow(missing.map(({ id }) => id))
      for (const { id, number } of missing) {
        const passage = now.get(id)
        if (passage !== undefined) found.set(number, passage)
      }
    }
  }
  return found
}

/** A sub-agent, or the agent before a handoff, may have found it. */
function agentsWith({ scope, agent }: Lane, tool: string): AgentParts[] {
  const others = scope.agents.values().filter(({ definition }) => {
    const named = definition.tools.some((one) => one.type === 'knowledge' && one.name === tool)
    return named && definition.name !== agent.definition.name
  })
  return [agent, ...others]
}
