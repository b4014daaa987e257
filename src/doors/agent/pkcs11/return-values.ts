/** Return values of PKCS #11 (`CKR_…`) that this token uses. */
export const RETURN = {
  hostMemory: 0x02,
  slotIdInvalid: 0x03,
  generalError: 0x05,
  argumentsBad: 0x07,
  attributeReadOnly: 0x10,
  attributeSensitive: 0x11,
  attributeTypeInvalid: 0x12,
  dataInvalid: 0x20,
  dataLengthRange: 0x21,
  deviceError: 0x30,
  encryptedDataInvalid: 0x40,
  encryptedDataLengthRange: 0x41,
  functionCanceled: 0x50,
  functionNotSupported: 0x54,
  keyHandleInvalid: 0x60,
  keyTypeInconsistent: 0x63,
  keyFunctionNotPermitted: 0x68,
  mechanismInvalid: 0x70,
  mechanismParameterInvalid: 0x71,
  objectHandleInvalid: 0x82,
  operationActive: 0x90,
  operationNotInitialized: 0x91,
  sessionClosed: 0xb0,
  sessionCount: 0xb1,
  sessionHandleInvalid: 0xb3,
  sessionParallelNotSupported: 0xb4,
  signatureInvalid: 0xc0,
  signatureLengthRange: 0xc1,
  tokenWriteProtected: 0xe2,
  userAlreadyLoggedIn: 0x100,
  userNotLoggedIn: 0x101,
  userTypeInvalid: 0x103,
  randomSeedNotSupported: 0x120,
  stateUnsaveable: 0x180,
  notInitialized: 0x190,
  alreadyInitialized: 0x191,
} as const;

export type ReturnName = keyof typeof RETURN;

/** Thrown if a call is answered with a return value only. */
export class Refused extends Error {
  /** `CKR_…`; never 0. */
  readonly value: number;

  constructor(name: ReturnName) {
    super(name);
    this.name = 'Refused';
    this.value = RETURN[name];
  }
}

/** Throws, for use in expressions. */
export const refuse = (name: ReturnName): never => {
  throw new Refused(name);
};
