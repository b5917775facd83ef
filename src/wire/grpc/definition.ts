export interface MethodDefinition {
  readonly name: string;
  /** Takes the method's own message; the generated codecs fit. */
  readonly requestType: { encode(message: never): { finish(): Uint8Array } };
  readonly responseType: { decode(input: Uint8Array): unknown };
  readonly requestStream: boolean;
  readonly responseStream: boolean;
}

/** A generated `...Definition`. */
export interface ServiceDefinition {
  readonly fullName: string;
  readonly methods: Readonly<Record<string, MethodDefinition>>;
}

export type MethodName<S extends ServiceDefinition> = keyof S['methods'] & string;
export type RequestOf<S extends ServiceDefinition, M extends MethodName<S>> = S['methods'][M] extends {
  requestType: { decode(input: Uint8Array): infer T };
}
  ? T
  : never;
export type ResponseOf<S extends ServiceDefinition, M extends MethodName<S>> = S['methods'][M] extends {
  responseType: { decode(input: Uint8Array): infer T };
}
  ? T
  : never;
