import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Calls `press` when somebody presses Enter at the terminal. The returned function ends that. Only the job in the foreground reads: the
 * system would stop one in the background (`serve &`, or Ctrl-Z and `bg`) as soon as it does. Nothing tells a job that runs that `fg` has
 * brought it back, so it does not read again then.
 */
export function onEnter(process: NodeJS.Process, press: () => void): () => void {
  const { stdin } = process
  if (stdin.isTTY !== true) return () => {}
  const read = (chunk: Buffer | string): void => {
    if (/[\r\n]/.test(String(chunk))) press()
  }
  // The terminal was closed. A signal says so too.
  const ignore = (): void => {}
  const follow = (): void => void (isInForeground(process) ? stdin.resume() : stdin.pause())
  follow()
  stdin.on('data', read).on('error', ignore)
  if (process.platform !== 'win32') process.on('SIGCONT', follow)
  return () => {
    if (process.platform !== 'win32') process.off('SIGCONT', follow)
    stdin.off('data', read).off('error', ignore).pause()
  }
}

/** Whether our group of processes has the terminal. False if that is not known. */
function isInForeground({ pid, platform }: NodeJS.Process): boolean {
  if (platform === 'win32') return true
  try {
    const [group, owner] =
      platform === 'linux'
        ? readFileSync(`/proc/${pid}/stat`, 'utf8')
            .replace(/^.*\) /s, '')
            .split(' ')
            .filter((_, at) => at === 2 || at === 5)
        : execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(pid)], { encoding: 'utf8' })
            .trim()
            .split(/\s+/)
    return group !== undefined && group === owner
  } catch {
    return false
  }
}
