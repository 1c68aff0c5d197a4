int nobody_calls_this(void)
{
    return 1;
}
