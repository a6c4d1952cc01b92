import type { Health } from 'quarterdeck/client'
import type { Tone } from '../../parts/Badge.tsx'

export interface Verdict {
  word: string
  sentence: string
  tone: Tone
}

const verdicts: Readonly<Record<Health['status'], Verdict>> = {
  healthy: { word: 'All is well', sentence: 'The server works, and so does everything that it needs.', tone: 'good' },
  degraded: {
    word: 'Partly works',
    sentence: 'The server works, but something that it needs does not. Some answers will fail.',
    tone: 'warn',
  },
  unhealthy: {
    word: 'Does not work',
    sentence: 'The server cannot store anything, so it takes no work. What was stored before is safe.',
    tone: 'bad',
  },
}

const away: Verdict = {
  word: 'No answer',
  sentence: 'The server does not answer this browser. It may be stopped, starting, or cut off from the network.',
  tone: 'bad',
}

/** How the server is doing, in words. Null: it does not answer. */
export const verdictOf = (status: Health['status'] | null): Verdict => (status === null ? away : verdicts[status])

/** What to do about a check that fails, and the command of the program that helps. `isShared`: several servers may use the store, so it is Postgres. Null: not known. */
export function adviceOf(check: string, isShared: boolean | null): { text: string; command: string | null } {
  if (check === 'storage') {
    const text =
      isShared === false
        ? 'See whether the disk of the data folder is full or read-only, then start the server again.'
        : isShared === true
          ? 'See whether Postgres runs, takes connections and has space on its disk. The servers wait for it: do not start them again.'
          : 'See whether the disk is full or read-only. With Postgres, see whether it runs and takes connections: the server waits for it.'
    return { text, command: null }
  }
  if (check === 'model' || check === 'gemini_api') {
    const text = 'Check the key and the address of the model, and whether its provider has trouble. To try it:'
    return { text, command: 'doctor' }
  }
  const text = 'An agent needs this server. See whether it runs, and what the log of this server says about it.'
  return { text, command: null }
}

const names: Readonly<Record<string, string>> = {
  storage: 'Storage',
  model: 'Model',
  gemini_api: 'Gemini API',
}

export const checkName = (check: string): string => names[check] ?? check
