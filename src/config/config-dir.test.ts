import { userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findConfigDir } from './config-dir.ts'

test('the config folder is QUARTERDECK_CONFIG_DIR, or else the usual place of the system', () => {
  const find = (env: Record<string, string>) => findConfigDir(env, 'linux')

  expect(find({ QUARTERDECK_CONFIG_DIR: '/etc/q', XDG_CONFIG_HOME: '/x', HOME: '/home/ada' })).toBe('/etc/q')
  expect(find({ XDG_CONFIG_HOME: '/x', HOME: '/home/ada' })).toBe('/x/quarterdeck')
  expect(find({ XDG_CONFIG_HOME: 'relative', HOME: '/home/ada' })).toBe('/home/ada/.config/quarterdeck')
  const own = join(userInfo().homedir, '.config/quarterdeck')
  expect(find({ QUARTERDECK_CONFIG_DIR: ' ', XDG_CONFIG_HOME: '' })).toBe(own)
  expect(find({ XDG_CONFIG_HOME: '', HOME: '' })).toBe(own)
  expect(find({ HOME: 'relative' })).toBe(own)
  expect(findConfigDir({ APPDATA: '/ada/Roaming' }, 'win32')).toBe(join('/ada/Roaming', 'quarterdeck'))
})

test('a relative config folder is refused, because it would be inside a workspace', () => {
  expect(() => findConfigDir({ QUARTERDECK_CONFIG_DIR: 'config' }, 'linux')).toThrow(
    'QUARTERDECK_CONFIG_DIR: expected an absolute path, found "config".',
  )
})
