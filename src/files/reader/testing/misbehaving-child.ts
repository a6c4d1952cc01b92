// Replaces `child/main.ts` in tests: it does what the name of the file says.

import { spawn } from 'node:child_process'
import { appendFileSync, linkSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { writeExtract } from '../extract-file.ts'
import type { ReadJob } from '../read-job.ts'

const refused = (act: () => void): string => {
  try {
    act()
    return 'allowed'
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

let jobs = 0

async function behave(job: ReadJob): Promise<void> {
  jobs++
  const [what = ''] = basename(job.path).split('.')
  const answer = async (text: string) => {
    await writeExtract(job.resultPath, { sections: [{ label: '', text }], notes: [] })
    process.send?.({ type: 'done' })
  }
  if (what === 'loop') for (;;);
  if (what === 'work') {
    const { user } = process.cpuUsage()
    while (process.cpuUsage().user - user < 1_500_000);
  }
  if (what === 'grow') {
    const kept: Buffer[] = []
    setInterval(() => kept.push(Buffer.alloc(20_000_000, 1)), 10)
    return
  }
  if (what === 'crash') process.abort()
  if (what === 'crashes-when-used' && jobs > 1) process.exit(1)
  if (what === 'lie') process.send?.({ type: 'done' })
  if (what === 'babble') process.send?.({ type: 'nonsense', path: '/etc/passwd' })
  if (what === 'hang') return
  if (what === 'refuse' || what === 'falter') {
    const message = `${what}: job ${jobs} of ${process.pid}`
    process.send?.({ type: 'failed', message, cause: '', lasting: what === 'refuse' })
    return
  }
  if (what === 'scan' || what === 'scan-that-crashes') {
    if (what !== 'scan' && job.pages !== undefined) process.abort()
    // The first page has text. Of the other pages there is time for one.
    const pages = job.pages ?? [1, 2, 3]
    const read = job.pages === undefined ? [1] : pages.slice(0, 1)
    const unread = pages.filter((page) => !read.includes(page)).map((page) => `page ${page}`)
    const sections = pages.map((page) => ({
      label: `page ${page}`,
      text: read.includes(page) ? `${page}: job ${jobs}, ${job.scans ? 'scans' : 'words'}` : '',
    }))
    await writeExtract(job.resultPath, { sections, notes: [], ...(unread.length > 0 && { unread }) })
    process.send?.({ type: 'done' })
    return
  }
  if (what === 'progress') process.send?.({ type: 'progress', done: 1, total: 2 })
  if (what === 'confess') {
    // The folders of other children and earlier results are above its own folder.
    const data = join(process.cwd(), '..', '..')
    await answer(
      JSON.stringify({
        names: Object.keys(process.env)
          .filter((name) => !name.startsWith('NODE_CHANNEL'))
          .sort(),
        inFolder: process.cwd() === process.env.TMPDIR && job.resultPath.startsWith(process.cwd()),
        reading: readFileSync(job.path, 'utf8'),
        inbox: readdirSync(dirname(job.path)),
        denied: [
          () => readFileSync('/etc/passwd'),
          () => readFileSync(`/proc/${process.ppid}/environ`),
          () => readdirSync(join(data, '..')),
          () => statSync(join(data, 'anything')),
          () => linkSync('/etc/passwd', 'linked'),
          () => symlinkSync('/etc/passwd', 'linked'),
          () => appendFileSync(job.path, 'x'),
          () => writeFileSync(`${job.path}.written`, 'x'),
          () => spawn('true'),
        ].map(refused),
      }),
    )
  } else if (what !== 'lie') await answer(`${what}: job ${jobs} of ${process.pid}`)
}

process.on('message', behave)
process.on('disconnect', () => process.exit())
