import { expect, test } from 'vitest'
import { textEncodingOf } from './text-encoding.ts'

/** Written by other programs, because Node can only read these encodings. */
const texts: [string, string, string][] = [
  [
    'windows-1251',
    'Уважаемые коллеги, завтра в порту закрыт причал.',
    'd3e2e0e6e0e5ecfbe520eaeeebebe5e3e82c20e7e0e2f2f0e020e220efeef0f2f320e7e0eaf0fbf220eff0e8f7e0eb2e',
  ],
  [
    'windows-1251',
    'name,city\nsmith,Москва\njones,Казань\n',
    '6e616d652c636974790a736d6974682ccceef1eae2e00a6a6f6e65732ccae0e7e0edfc0a',
  ],
  [
    'koi8-r',
    'Уважаемые коллеги, завтра в порту закрыт причал.',
    'f5d7c1d6c1c5cdd9c520cbcfccccc5c7c92c20dac1d7d4d2c120d720d0cfd2d4d520dac1cbd2d9d420d0d2c9dec1cc2e',
  ],
  [
    'iso-8859-5',
    'Уважаемые коллеги, завтра в порту закрыт причал.',
    'c3d2d0d6d0d5dcebd520dadedbdbd5d3d82c20d7d0d2e2e0d020d220dfdee0e2e320d7d0dae0ebe220dfe0d8e7d0db2e',
  ],
  ['shift_jis', '港の事務所は船を記録しています。', '8d6082cc8e9696b18f8a82cd914482f08b4c985e82b582c482a282dc82b78142'],
  ['shift_jis', 'id,品名\n1,カメラ\n2,プリンター\n', '69642c956996bc0a312c834a838183890a322c8376838a8393835e815b0a'],
  ['euc-jp', '港の事務所は船を記録しています。', 'b9c1a4cebbf6ccb3bdeaa4cfc1a5a4f2b5adcfbfa4b7a4c6a4a4a4dea4b9a1a3'],
  [
    'gb18030',
    '港务局记录每一艘进入海湾的船只，这是我们的公告。',
    'b8dbcef1bed6bcc7c2bcc3bfd2bbcbd2bdf8c8ebbaa3cde5b5c4b4acd6bba3acd5e2cac7ced2c3c7b5c4b9abb8e6a1a3',
  ],
  ['gb18030', '姓名,地址\n王小明,北京市朝阳区\n', 'd0d5c3fb2cb5d8d6b70acdf5d0a1c3f72cb1b1bea9cad0b3afd1f4c7f80a'],
  [
    'big5',
    '港務局記錄每一艘進入海灣的船隻，這是我們的公告。',
    'b4e4b0c8a7bdb04fbffda843a440bfb4b669a44aaefcc657aabab2eeb0a6a141b36fac4fa7daadccaabaa4bda769a143',
  ],
  [
    'euc-kr',
    '항만 사무소는 모든 선박의 기록을 보관합니다.',
    'c7d7b8b820bbe7b9abbcd2b4c220b8f0b5e720bcb1b9dac0c720b1e2b7cfc0bb20bab8b0fcc7d5b4cfb4d92e',
  ],
  [
    'windows-1250',
    'Šišmiš žuri kući, čovječe, đak uči.',
    '8a699a6d699a209e757269206b75e6692c20e86f766a65e8652c20f0616b2075e8692e',
  ],
  [
    'windows-1252',
    'Grüße, Frau Müßig – „Zürich“ für 5 €',
    '4772fcdf652c2046726175204dfcdf6967209620845afc72696368932066fc7220352080',
  ],
  [
    'windows-1252',
    'L’été à Noël, l’œuvre créée : « Où ça ? »',
    '4c92e974e920e0204e6feb6c2c206c929c75767265206372e9e965203a20ab204ff920e761203f20bb',
  ],
  [
    'windows-1252',
    '¿Qué año? El niño comió 3 piñas, ¡adiós!',
    'bf5175e92061f16f3f20456c206e69f16f20636f6d69f32033207069f161732c20a1616469f37321',
  ],
  ['windows-1252', 'Það er gott að vera á Íslandi.', 'de61f020657220676f74742061f0207665726120e120cd736c616e64692e'],
  ['windows-1252', 'café', '636166e9'],
  [
    'utf-16le',
    'Мы живём в порту.\n1, 2\n',
    '1c044b04200036043804320451043c042000320420003f043e044004420443042e000a0031002c00200032000a00',
  ],
  ['utf-16be', '港务局,1\n这是,2\n', '6e2f52a15c40002c0031000a8fd9662f002c0032000a'],
]

test.each(texts)('%s: %s', (encoding, text, hex) => {
  const bytes = Buffer.from(hex, 'hex')

  expect(textEncodingOf(bytes)).toBe(encoding)
  expect(new TextDecoder(encoding).decode(bytes)).toBe(text)
})

test.each([
  ['Greek', 'cae1ebe7ecddf1e120f3e1f22c20f4ef20ebe9ecdcede920e5dfede1e920eaebe5e9f3f4fc2e'],
  ['Hebrew', 'f9ece5ed20ecebe5eced'],
  ['what DOS wrote', '475299535345209a424552208e52474552'],
  ['names in kanji', '8e8196bc2c8f5a8f8a0a8e52936391be98592c938c8b9e93738d608be60a'],
  ['Polish of old', '70726f737aea207061f1737477612c207720b6726f64ea2062ea647a696520b67769ea746f20b36f647a69'],
])('an unclear encoding is not guessed: %s', (_what, hex) => {
  expect(textEncodingOf(Buffer.from(hex, 'hex'))).toBe(null)
})

test('a single zero does not make a text UTF-16', () => {
  expect(textEncodingOf(Buffer.from('hello\0 world'))).toBe('utf-8')
  expect(textEncodingOf(Buffer.from('Привет\0, мир'))).toBe('utf-8')
})
