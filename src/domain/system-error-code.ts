import { ServerError } from './errors.ts'

/** The code of a system error, such as `ENOENT`. Empty if the error has none. */
export const systemErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Does what a full or broken disk can prevent. `loss` completes the sentence: "The disk is full" … */
export async function onDisk<T>(loss: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const isFull = ['ENOSPC', 'EDQUOT'].includes(systemErrorCode(cause))
    if (!isFull) throw new ServerError('storage_failed', `The disk failed${loss}`, { cause })
    throw new ServerError('storage_full', `The disk is full${loss} Free some space and try again.`, { cause })
  }
}
