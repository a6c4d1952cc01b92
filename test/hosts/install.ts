// Installs the real hosts from npm into a cache, each in its own folder. They are large: about a gigabyte together.

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { folderOf, hosts, programOf } from './hosts.ts'

for (const host of hosts.flatMap(({ acp, ...host }) => [host, acp])) {
  const what = `${host.package}@${host.version}`
  if (programOf(host) !== null) continue
  const folder = folderOf(host)
  mkdirSync(folder, { recursive: true })
  process.stdout.write(`Installing ${what} into ${folder} …\n`)
  const flags = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', ['install', ...flags, what], { stdio: 'inherit' })
  if (programOf(host) === null) {
    process.stdout.write(
      `SKIPPED ${host.name}: ${what} has no program for ${process.platform} ${process.arch} (npm: ${status}).\n`,
    )
  }
}
