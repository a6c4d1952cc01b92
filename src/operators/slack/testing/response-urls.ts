// The `response_url` of an interaction: whoever has it may answer five times within half an hour, without a token.

import type { Clock } from '../../../domain/clock.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { contentOf, SlackRefusal } from './api-methods.ts'
import { newSecret, type SlackWorkspace } from './slack-workspace.ts'

export interface ResponseUrls {
  /** `messageTs`: the message whose button was pressed; null for a slash command. */
  create(channel: string, user: string, messageTs: string | null): string
  /** Answers a POST to the path of such a URL. */
  respond(path: string, body: unknown): { status: number; body: string }
  /** Shows what an app said to one person, or to the channel. */
  show(from: { channel: string; user: string; messageTs: string | null }, body: unknown): void
}

const MAX_USES = 5
const LIFETIME_MS = 30 * 60_000

export function createResponseUrls(workspace: SlackWorkspace, clock: Clock): ResponseUrls {
  const urls = new Map<
    string,
    { channel: string; user: string; messageTs: string | null; until: number; uses: number }
  >()
  const isTrue = (value: unknown) => value === true || value === 'true'

  function show(
    { channel, user, messageTs }: { channel: string; user: string; messageTs: string | null },
    body: unknown,
  ) {
    const said = isRecord(body) ? body : {}
    const original = messageTs === null ? null : workspace.find(channel, messageTs)
    if (isTrue(said.delete_original)) {
      if (original !== null) workspace.remove(original)
      return
    }
    const content = contentOf({
      ...(typeof said.text === 'string' && { text: said.text }),
      ...(said.blocks !== undefined && {
        blocks: typeof said.blocks === 'string' ? said.blocks : JSON.stringify(said.blocks),
      }),
    })
    if (content.text === '' && content.blocks.length === 0) throw new SlackRefusal('no_text')
    if (isTrue(said.replace_original) && original !== null) {
      workspace.update(original, content)
      return
    }
    workspace.post({
      channel,
      user: workspace.identity.botUserId,
      ...content,
      threadTs: typeof said.thread_ts === 'string' ? said.thread_ts : null,
      ephemeralTo: said.response_type === 'in_channel' ? null : user,
    })
  }

  return {
    create(channel, user, messageTs) {
      const path = `/actions/${workspace.identity.teamId}/${newSecret()}`
      urls.set(path, { channel, user, messageTs, until: clock.mono() + LIFETIME_MS, uses: 0 })
      return `${workspace.baseUrl}${path}`
    },

    respond(path, body) {
      const refused = (status: number, error: string) => ({ status, body: JSON.stringify({ ok: false, error }) })
      const url = urls.get(path)
      if (url === undefined) return refused(404, 'invalid_url')
      if (clock.mono() > url.until) return refused(404, 'expired_url')
      if (url.uses >= MAX_USES) return refused(404, 'used_url')
      try {
        show(url, body)
      } catch (error) {
        if (!(error instanceof SlackRefusal)) throw error
        return refused(400, error.error)
      }
      url.uses += 1
      return { status: 200, body: 'ok' }
    },

    show,
  }
}
