import { expect, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import { damaged, unreadable } from '../../formats/unreadable.ts'
import { isLastingFailure } from './job-failure.ts'

const coded = (code: string) => Object.assign(new Error(code), { code })

test.each<[string, unknown]>([
  ['a password', unreadable('The file is locked with a password.')],
  ['damage that a parser found', damaged(new Error('Invalid PDF structure.'))],
  ['damage that zlib found', damaged(coded('Z_DATA_ERROR'))],
  ['a picture that broke off', unreadable('The picture is damaged.', new Error('premature end of JPEG image'))],
])('%s would happen again with the same bytes', (_what, error) => {
  expect(isLastingFailure(error)).toBe(true)
})

test.each<[string, unknown]>([
  ['a disk that fails', damaged(coded('EIO'))],
  ['a file that is not there', damaged(new Error('cannot read', { cause: coded('ENOENT') }))],
  ['a library that is not installed', damaged(coded('ERR_MODULE_NOT_FOUND'))],
  ['too little memory', damaged(new RangeError('Array buffer allocation failed'))],
  ['too little memory for zlib', damaged(coded('Z_MEM_ERROR'))],
  ['too little memory for a picture', unreadable('The picture is damaged.', new Error('vips: out of memory'))],
  ['too little time', unreadable('It takes too long.', new DOMException('out of time', 'TimeoutError'))],
  ['a full disk', coded('ENOSPC')],
  ['what nobody foresaw', new TypeError('x is not a function')],
  ['a failure of the server', new ServerError('storage_failed', 'The disk failed.')],
  ['what is no error', 'damaged'],
])('%s says nothing about the bytes', (_what, error) => {
  expect(isLastingFailure(error)).toBe(false)
})
