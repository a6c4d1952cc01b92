import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { diskFiles, MAX_FILE_BYTES, readText } from './config-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const read = (name: string, content: string | Uint8Array) => {
  writeFileSync(join(folder, name), content)
  return readText(diskFiles, join(folder, name))
}

describe('reading from disk', () => {
  test('gives text without its byte order mark', () => {
    expect(read('bom.yaml', '\uFEFFname: ä\n')).toEqual({ text: 'name: ä\n', problem: null, missing: false })
  })

  test('says that there is no such file', () => {
    const missing = { text: null, problem: 'there is no such file', missing: true }
    expect(readText(diskFiles, join(folder, 'nothing'))).toEqual(missing)
  })

  test('says that a path is a folder', () => {
    expect(readText(diskFiles, folder)).toEqual({ text: null, problem: 'it is a folder', missing: false })
  })

  test('refuses text that is not UTF-8', () => {
    expect(read('latin1', new Uint8Array([0x61, 0xe4]))).toEqual({
      text: null,
      problem: 'it is not UTF-8 text',
      missing: false,
    })
  })

  test('reads a file of 1 MiB and refuses one byte more', () => {
    expect(read('full', 'x'.repeat(MAX_FILE_BYTES)).text?.length).toBe(MAX_FILE_BYTES)
    expect(read('over', 'x'.repeat(MAX_FILE_BYTES + 1)).problem).toBe('it is larger than 1 MiB')
  })

  test.skipIf(process.platform === 'win32')('does not read an endless device to its end', () => {
    expect(readText(diskFiles, '/dev/zero').problem).toBe('it is larger than 1 MiB')
  })

  test('lists the entries of a folder by name, and returns null for a file', () => {
    mkdirSync(join(folder, 'list', 'sub'), { recursive: true })
    writeFileSync(join(folder, 'list', 'b.yaml'), '')
    writeFileSync(join(folder, 'list', 'a.yaml'), '')
    expect(diskFiles.list(join(folder, 'list'))).toEqual([
      { name: 'a.yaml', isFolder: false, isFile: true },
      { name: 'b.yaml', isFolder: false, isFile: true },
      { name: 'sub', isFolder: true, isFile: false },
    ])
    expect([diskFiles.list(join(folder, 'list', 'a.yaml')), diskFiles.list(join(folder, 'nothing'))]).toEqual([
      null,
      null,
    ])
  })
})
