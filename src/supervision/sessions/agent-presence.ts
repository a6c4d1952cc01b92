import type { Together } from '../together.ts'

/** Which sessions have an agent that is connected. */
export interface AgentPresence {
  /** An agent of the session is connected here until the returned function is called. */
  arrive(sessionId: string): () => void
  /** Asks the other processes. The returned function says whether an agent of the session is connected, here or there. */
  look(): Promise<(sessionId: string) => boolean>
}

const PRESENT = 'present sessions'

export function createAgentPresence(together: Pick<Together, 'board'> | undefined): AgentPresence {
  /** How many connections of each session are open in this process. */
  const here = new Map<string, number>()
  together?.board.say(PRESENT, () => [...here.keys()])
  return {
    arrive(sessionId) {
      here.set(sessionId, (here.get(sessionId) ?? 0) + 1)
      let isHere = true
      return () => {
        if (!isHere) return
        isHere = false
        const left = (here.get(sessionId) ?? 1) - 1
        if (left === 0) here.delete(sessionId)
        else here.set(sessionId, left)
      }
    },
    async look() {
      const heard = (await together?.board.listen(PRESENT)) ?? []
      const elsewhere = new Set(heard.flatMap(({ said }) => (Array.isArray(said) ? said : [])))
      return (sessionId) => here.has(sessionId) || elsewhere.has(sessionId)
    },
  }
}
