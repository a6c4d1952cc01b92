import { isRecord } from '../../domain/is-record.ts'
import type { ChannelCheck, CheckParts } from '../channel-kind.ts'

/** They are made when the first browser subscribes. */
export async function checkPushKeys({ kept }: Pick<CheckParts, 'kept'>): Promise<ChannelCheck[]> {
  const why = 'Otherwise the server makes new ones, and browsers must subscribe again.'
  try {
    const file = kept('push')
    const text = file?.read() ?? null
    if (file === null || text === null) return []
    const keys = parsed(text)
    if (isRecord(keys) && typeof keys.publicKey === 'string' && typeof keys.privateKey === 'string') {
      return [{ status: 'ok', detail: 'the keys for Web Push are there' }]
    }
    return [{ status: 'warn', detail: `${file.path} holds no keys for Web Push`, mend: `Restore the file. ${why}` }]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [{ status: 'warn', detail: `The keys for Web Push cannot be used: ${reason}`, mend: `Mend that. ${why}` }]
  }
}

/** Null if it is not JSON. The error of the parser would show a part of the text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
