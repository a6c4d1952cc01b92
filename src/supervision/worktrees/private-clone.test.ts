import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import { readFiles, writeFiles } from '../checkpoints/testing/workspace.ts'
import { openWorktree } from './testing/open-worktree.ts'

const git = fs.existsSync('/usr/bin/git') ? '/usr/bin/git' : null

const inFolder = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=P', '-c', 'user.email=p@localhost', '-C', folder, ...args], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
  }).trim()

function repository(workspace: string): void {
  inFolder(workspace, 'init', '--quiet', '--initial-branch=work')
  inFolder(workspace, 'add', '.')
  inFolder(workspace, 'commit', '--quiet', '--message=first')
}

const statusOf = (root: string): string[] => inFolder(root, 'status', '--short', '--branch').split('\n')

describe.skipIf(git === null)(
  `a worktree of a repository${git === null ? ' (skipped: git is not installed)' : ''}`,
  () => {
    test('is on the same branch, with what is not committed, and shares the objects', async () => {
      const { worktree, workspace } = await openWorktree(
        { 'a.txt': 'one\n', 'b.txt': 'b\n' },
        { git, prepare: repository },
      )
      const before = readFiles(join(workspace, '.git'))
      expect(statusOf(worktree.root)).toEqual(['## work...workspace/work'])
      writeFiles(workspace, { 'a.txt': 'two\n' })
      await worktree.refresh()
      expect(statusOf(worktree.root)).toEqual(['## work...workspace/work', ' M a.txt'])
      inFolder(worktree.root, 'commit', '--all', '--quiet', '--message=private')
      expect(inFolder(worktree.root, 'log', '--format=%s')).toBe('private\nfirst')
      expect(readFiles(join(workspace, '.git'))).toEqual(before)
      expect((await worktree.changes()).changes).toEqual([])
    })

    test('is on no branch where the workspace is on none, and has no commit where there is none', async () => {
      const detached = await openWorktree(
        { 'a.txt': 'one\n' },
        {
          git,
          prepare(workspace) {
            repository(workspace)
            inFolder(workspace, 'checkout', '--quiet', '--detach')
          },
        },
      )
      expect(statusOf(detached.worktree.root)).toEqual(['## HEAD (no branch)'])
      const unborn = await openWorktree(
        { 'a.txt': 'one\n' },
        { git, prepare: (workspace) => void inFolder(workspace, 'init', '--quiet', '--initial-branch=work') },
      )
      expect(statusOf(unborn.worktree.root)).toEqual([expect.stringMatching(/^## No commits yet on work/), '?? a.txt'])
    })

    test('runs nothing that the repository names', async () => {
      const { top, worktree } = await openWorktree(
        { 'a.txt': 'one\n', '.gitattributes': '*.txt filter=evil\n' },
        {
          git,
          prepare(workspace) {
            repository(workspace)
            const evil = join(workspace, '../evil')
            fs.writeFileSync(evil, `#!/bin/sh\ntouch ${workspace}/../ran\n`, { mode: 0o755 })
            const named = ['core.fsmonitor', 'uploadpack.packObjectsHook', 'filter.evil.smudge', 'filter.evil.clean']
            for (const name of [...named, 'core.sshCommand']) inFolder(workspace, 'config', name, evil)
            for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change'])
              fs.copyFileSync(evil, join(workspace, '.git/hooks', hook))
          },
        },
      )
      expect([fs.existsSync(join(top, 'ran')), statusOf(worktree.root).length]).toEqual([false, 1])
    })

    test('is a plain copy where the repository is elsewhere or damaged, and says so', async () => {
      const elsewhere = await openWorktree({ 'a.txt': 'one\n', '.git': 'gitdir: ../other\n' }, { git })
      expect(readFiles(elsewhere.worktree.root)).toEqual({ 'a.txt': 'one\n' })
      const said: unknown[] = []
      const note = (message: string) => void said.push(message)
      const damaged = await openWorktree(
        { 'a.txt': 'one\n', '.git/HEAD': 'nonsense' },
        { git, logger: { ...silentLogger, warn: note } },
      )
      expect([readFiles(damaged.worktree.root), damaged.worktree.objects, said]).toEqual([
        { 'a.txt': 'one\n' },
        null,
        [expect.stringMatching(/cannot be cloned/)],
      ])
    })
  },
)
