// The bell of the terminal that the server runs in: it rings and writes one line when something waits. Nobody can answer here.

import type { FeedItem } from '../../domain/feed.ts'
import type { ProgramWords } from '../../domain/program-words.ts'
import type { PersonRecord } from '../../domain/records/record.ts'
import { unreachable } from '../../domain/unreachable.ts'
import { visibleProse } from '../../domain/visible-text.ts'
import type { Terminal } from '../channel-parts.ts'
import { verbOf } from '../notice/notice.ts'
import type { CreateChannel } from '../operator.ts'

const RING = '\u0007'
const MOST_CHARS = 160

/** Only for a terminal: a bell in a log file is a strange character. */
export const createBell =
  (terminal: Terminal, { name, dataDirFlag }: ProgramWords): CreateChannel =>
  ({ find }) => {
    /** A delivery may come again after a crash of the store; the bell does not ring twice for it. */
    let last = 0
    const ctl = (words: string): string => `${name} ctl ${words}${dataDirFlag}`
    const ring = (text: string): void => terminal.write(`${RING}${text}\n`)
    return {
      name: 'bell',
      surface: 'local',
      concerns: isNews,
      async deliver({ n, item, count }) {
        if (n <= last) return null
        const wait = item === null ? null : await find(item)
        last = n
        if (item === null) ring(`${count} more items wait for a person: ${ctl('list')}`)
        // Somebody may have answered by now.
        else if (wait !== null && isNews({ ...item, ...statusOf(wait) }))
          ring(`${lineOf(wait)} (${ctl(`show ${wait.id}`)})`)
        return null
      },
      announce: ring,
      close: async () => {},
    }
  }

const statusOf = ({ status }: PersonRecord) => ({ status })

function isNews(item: Pick<FeedItem, 'kind' | 'status'>): boolean {
  return item.kind === 'wait' && (item.status === 'pending' || item.status === 'escalated')
}

function lineOf(wait: PersonRecord): string {
  const text = shortOf(textOf(wait))
  const risk = wait.wait === 'approval' ? `, risk ${wait.risk}` : ''
  return `${oneLine(wait.agent)} ${verbOf(wait)}${risk}: ${text}`
}

function textOf(wait: PersonRecord): string {
  switch (wait.wait) {
    case 'approval':
      return wait.title
    case 'prompt':
      return wait.promptText
    case 'standby':
      return wait.message
    case 'alert':
      return `for ${wait.idleSeconds} s, last tool ${wait.lastTool ?? 'none'}`
    default:
      return unreachable(wait)
  }
}

/** An agent's text must not move the cursor or hide a part of itself. */
function shortOf(text: string): string {
  const shown = oneLine(text.slice(0, MOST_CHARS).toWellFormed())
  return text.length > MOST_CHARS ? `${shown}…` : shown
}

/** Most of these texts have been made visible before they were stored. */
const oneLine = (text: string): string => visibleProse(text).replace(/\s+/g, ' ')
