// The bell of the terminal that the server runs in: it rings and writes one line when something waits. Nobody can answer here.

import type { PersonRecord } from '../../domain/records/record.ts'
import type { ProgramWords } from '../../domain/settings/program-words.ts'
import { visibleProse } from '../../domain/text/visible-text.ts'
import { riskOf } from '../../supervision/inbox/urgency.ts'
import { describeInShort } from '../../supervision/records/describe-record.ts'
import type { Terminal } from '../channel-parts.ts'
import { isNews } from '../notifications/notification.ts'
import type { CreateChannel } from '../operator.ts'

const RING = '\u0007'
const MOST_CHARS = 160

/** Only for a terminal: a bell in a log file is a strange character. */
export const createBell =
  (terminal: Terminal, { name, dataDirFlag }: ProgramWords): CreateChannel =>
  ({ find }) => {
    /** A delivery may come again after a crash of the store; the bell does not ring twice for it. */
    let last = 0
    const ctl = (words: string): string => `${name} ctl ${words}${dataDirFlag()}`
    const ring = (text: string, isLoud = true): void => terminal.write(`${isLoud ? RING : ''}${text}\n`)
    return {
      name: 'bell',
      surface: 'local',
      concerns: (item) => item.kind === 'wait' && isNews(item),
      async deliver({ n, item, count }) {
        if (n <= last) return null
        const wait = item === null ? null : await find(item)
        last = n
        if (item === null) ring(`${count} more items wait for a person: ${ctl('list')}`)
        // Somebody may have answered by now. What is low is only written down.
        else if (wait !== null && isNews(wait))
          ring(`${lineOf(wait)} (${ctl(`show ${wait.id}`)})`, riskOf(wait) !== 'low')
        return null
      },
      announce: (text) => ring(text),
      close: async () => {},
    }
  }

function lineOf(wait: PersonRecord): string {
  const { agent, title, gist, risk } = describeInShort(wait)
  const about = [title, gist].filter((words) => words !== '').join(' ')
  return `${oneLine(agent)}${risk === null ? '' : ` (risk ${risk.level})`}: ${shortOf(about)}`
}

/** An agent's text must not move the cursor or hide a part of itself. */
function shortOf(text: string): string {
  const shown = oneLine(text.slice(0, MOST_CHARS).toWellFormed())
  return text.length > MOST_CHARS ? `${shown}…` : shown
}

/** Most of these texts have been made visible before they were stored. */
const oneLine = (text: string): string => visibleProse(text).replace(/\s+/g, ' ')
