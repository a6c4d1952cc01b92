// Notices on a phone through an ntfy server, one topic for each operator. Whoever knows the topic can read it, and often also write to it:
// so nothing can be decided there, and its one button opens the console.

import { isRecord } from '../../domain/is-record.ts'
import type { Risk } from '../../domain/tool-settings.ts'
import { currentNotice } from '../notice/current-notice.ts'
import type { ConsoleLink, Notice } from '../notice/notice.ts'
import type { Post } from '../notice/post.ts'
import type { CreateChannel } from '../operator.ts'
import type { PersonRules } from '../people/person-rules.ts'

export interface NtfyOptions {
  /** Name of the operator. */
  person: string
  /** Address of the server. */
  server: URL
  topic: string
  token: string | null
  rules: PersonRules
  post: Post
  link: ConsoleLink
}

/** What was noted about a message: whether the server can replace it. Servers before 2.16 cannot, and would show a second one. */
const REPLACEABLE = 'replaceable '
const FINAL = 'final '

export const createNtfy =
  ({ person, server, topic, token, rules, post, link }: NtfyOptions): CreateChannel =>
  ({ find }) => {
    const channel = `ntfy:${person}`
    const headers = {
      'content-type': 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    }
    return {
      name: channel,
      surface: 'remote',
      concerns: rules.concerns,
      async deliver(delivery, signal) {
        const found = await currentNotice(delivery, { channel, person, find, link })
        if (found === null) return null
        const { notice, ref, mark } = found
        if (ref?.startsWith(FINAL) === true && !notice.isNews) return null
        const body = JSON.stringify(messageOf(notice, topic))
        const { text } = await post({ url: server, headers, body, isOurs: true }, signal)
        return `${isReplaceable(text, notice) ? REPLACEABLE : FINAL}${mark}`
      },
      close: async () => {},
    }
  }

/** https://docs.ntfy.sh/publish/#publish-as-json */
const messageOf = (notice: Notice, topic: string) => ({
  topic,
  title: notice.title,
  message: notice.body,
  priority: notice.isNews ? priorityOf[notice.risk ?? 'low'] : SILENT,
  tags: [notice.isNews ? tagOf[notice.risk ?? 'low'] : 'ballot_box_with_check'],
  click: notice.link,
  actions: [{ action: 'view', label: 'Open', url: notice.link }],
  sequence_id: notice.key,
})

const SILENT = 1
const priorityOf: Record<Risk, number> = { low: 3, high: 4, critical: 5 }
/** Their names are those of emoji, which ntfy puts before the title. */
const tagOf: Record<Risk, string> = { low: 'raised_hand', high: 'warning', critical: 'rotating_light' }

/** A server that knows the sequence of a message names it in its answer. */
function isReplaceable(answer: string, { key }: Notice): boolean {
  try {
    const message: unknown = JSON.parse(answer)
    return isRecord(message) && message.sequence_id === key
  } catch {
    return false
  }
}
