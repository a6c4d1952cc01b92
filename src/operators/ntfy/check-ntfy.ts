import { isRecord } from '../../domain/is-record.ts'
import type { ChannelCheck, CheckParts } from '../channel-kind.ts'
import type { NtfySettings } from './channel.ts'

const TIMEOUT_MS = 10_000

/** The topics are not touched: whoever reads them would see it. */
export async function checkNtfy({
  settings: { url },
  outgoing,
  clock,
}: CheckParts<NtfySettings, never>): Promise<ChannelCheck[]> {
  const mend = 'Start the ntfy server, or fix ntfy.url. Behind a proxy, check HTTPS_PROXY and tools.proxy.'
  const timeout = new AbortController()
  const stopWaiting = clock.after(TIMEOUT_MS, () => timeout.abort())
  try {
    const response = await outgoing.fetch(`${url}/v1/health`, { signal: timeout.signal })
    const answer: unknown = await response.json().catch(() => null)
    if (response.ok && isRecord(answer) && answer.healthy === true) return [{ status: 'ok', detail: `${url} works` }]
    const detail = `${url} answers ${response.status}, but not as a healthy ntfy server does`
    return [{ status: 'fail', detail, mend }]
  } catch {
    const why = timeout.signal.aborted ? `does not answer within ${TIMEOUT_MS / 1_000} s` : 'cannot be reached'
    return [{ status: 'fail', detail: `${url} ${why}`, mend }]
  } finally {
    stopWaiting()
  }
}
